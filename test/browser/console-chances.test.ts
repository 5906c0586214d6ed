import { expect } from "chai";
import { Redis } from "ioredis";
import { createChanceStore } from "#snapshots/dumps/chance-snapshot.ts";
import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { createShares } from "#src/domain/chance/shares.ts";
import { rows } from "#src/infrastructure/db.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { testPassword } from "#test/flow/operators.ts";
import { placeOf } from "#test/flow/country.ts";
import { holdMark } from "#test/flow/held-marks.ts";
import { axeFaults, openPage } from "#test/harness/browser.ts";

describe("browser: console, chances", function () {
  const site = useConsole();
  const { signIn, press } = site;

  /** As the process that follows the marks stores it: newcomers of one key lie about `no`. */
  const storeLies = async () => {
    const { config } = site.instance;
    const redis = new Redis(config.redisUrl);
    const shares = createShares(shippedNumbers.shares);
    const at = Date.now();
    for (let n = 0; n < 60; n += 1)
      for (const fuel of [true, false]) {
        const of = { fuel, newcomer: true, remote: false, sourceId: site.country.keyId };
        const share = shares.shareOf({ ...of, reporterId: n % 9 });
        shares.learn({ ...of, reporterId: n % 9 }, share, fuel ? 0.01 : 0.6, at);
      }
    const shared = { firstAt: at, ...shares.learnt() };
    await createChanceStore(redis, config.redisPrefix)
      .save({ lookedAt: at, shared, stations: [] }, shippedNumbers)
      .finally(() => redis.disconnect());
  };

  it("shows what marks did to a station's chance", async () => {
    const place = placeOf(site.nextPlace++);
    for (const user of ["ann", "bob"]) await site.partner.mark(place, user, { status: "yes" });
    const ago = "server_now() - interval '9 hours' + id % 2 * interval '5 hours'";
    await rows(site.country.db, `update marks set effective_at = ${ago} where station_id = ?`, [
      place.id,
    ]);
    const page = await signIn(`/stations/${place.id}`);
    await page.getByRole("img", { name: /^Now \d+ %; .* with 2 marks\./ }).waitFor();
    const cells = page.getByRole("cell", { name: /→ \d+ %/ });
    expect(await cells.count()).to.equal(2);
    expect(await axeFaults(page)).to.deep.equal([]);
    const view = await openPage({ width: 390, dark: true, locale: "ru-RU" });
    await site.goTo(view.page, `/stations/${place.id}`);
    await view.page.getByLabel("Имя", { exact: true }).fill("olga");
    await view.page.getByLabel("Пароль", { exact: true }).fill(testPassword);
    await view.page.getByRole("button", { name: "Войти", exact: true }).click();
    await view.page.getByRole("img", { name: /^Сейчас \d+ %; / }).waitFor();
    expect(await axeFaults(view.page)).to.deep.equal([]);
    await site.goTo(view.page, "/chances");
    await view.page.getByRole("heading", { name: "Темпы перемен: исходные и здешние" }).waitFor();
    await view.page.getByRole("cell", { name: "Они ждут, ч" }).waitFor();
    expect(await axeFaults(view.page)).to.deep.equal([]);
    await view.close();
  });

  it("lists who lies, says it of held groups, and goes back to the shipped rates", async () => {
    await storeLies();
    await holdMark(site.partner, site.nextPlace++);
    const learnt = JSON.stringify({
      fuel: { ...shippedNumbers.fuel, soonMeanMs: 9_000_000 },
      none: shippedNumbers.none,
    });
    await rows(site.country.db, "update chance_learning set rates = ?, result = 'learnt'", [
      learnt,
    ]);
    const page = await signIn("/review");
    await page
      .getByText(/Of marks like these, .* \d+ % are taken for lies\./)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "taken for lies" }).first().click();
    await page.getByRole("heading", { name: "Lies by source" }).waitFor();
    const row = page.getByRole("table", { name: "Lies by source" }).getByRole("row").nth(1);
    expect(await row.innerText()).to.match(/says none/);
    await page.getByText("Learnt rates are in force.").waitFor();
    expect(await page.getByRole("cell", { name: "2.5", exact: true }).count()).to.equal(1);
    expect(await axeFaults(page)).to.deep.equal([]);
    await press(page, "Back to the shipped rates");
    await page.getByText("The shipped rates are in force. ").first().waitFor();
    await page.getByText("Learning is switched off.").waitFor();
  });
});
