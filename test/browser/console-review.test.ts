import { expect } from "chai";
import { Redis } from "ioredis";
import { createChanceStore } from "#snapshots/dumps/chance-snapshot.ts";
import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { createShares } from "#src/domain/chance/shares.ts";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { holdMark } from "#test/flow/held-marks.ts";
import { isClean, openPage } from "#test/harness/browser.ts";
import { useConsole } from "#test/browser/console-site.ts";
import { itLong } from "#test/harness/long.ts";

describe("browser: console, review and rollback", function () {
  const site = useConsole();
  const { signIn, press, confirm, fuelOf, complaints } = site;

  it("decides a group of held marks by the keyboard, and takes that back", async () => {
    for (const place of [site.nextPlace++, site.nextPlace++]) await holdMark(site.partner, place);
    // Of one hour, also when it has just turned.
    const first = "(select min(received_at) from marks where review = 'held')";
    await rows(site.country.db, `update marks set received_at = ${first} where review = 'held'`);
    const page = await signIn("/review");
    const group = page.getByRole("article").filter({ hasText: "2 × no fuel" });
    await group.waitFor();
    await group.getByRole("button", { name: "What would change" }).click();
    await group.getByRole("img", { name: /^Map\. 2 stations\./ }).waitFor();
    // The bundled land is under them, from this server.
    await group.locator(".changes-map .land").first().waitFor({ state: "attached" });
    await isClean(page);
    expect(complaints(site.opened)).to.deep.equal([]);
    await page.keyboard.press("r");
    await confirm(page, "Reject");
    await page.getByText("2 marks were rejected.").waitFor();
    await page.getByText("No marks are held.").waitFor();
    await press(page, "Undo");
    await group.waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    // The key A of a Russian keyboard.
    await page.locator("body").dispatchEvent("keydown", { key: "ф", code: "KeyA" });
    await confirm(page, "Approve");
    await page.getByText("2 marks were approved.").waitFor();
    await page.getByText("No marks are held.").waitFor();
  });

  itLong("takes a group's decision back from the decisions to which the log links", async () => {
    const place = site.nextPlace++;
    await holdMark(site.partner, place);
    const page = await signIn("/review");
    const group = page.getByRole("article").filter({ hasText: "1 × no fuel" });
    await group.waitFor();
    // The badge counts what the page shows.
    await holdMark(site.partner, site.nextPlace++);
    await page.reload();
    await page.getByText("2 held").waitFor();
    await page.getByRole("link", { name: "Review 2 waiting" }).waitFor();
    await page
      .getByRole("button", { name: /^Reject the mark/ })
      .last()
      .click();
    await page.getByRole("link", { name: "Review 1 waiting" }).waitFor();
    await group.getByRole("button", { name: /^Reject the group/ }).click();
    await confirm(page, "Reject");
    await page.getByText("1 mark was rejected.").waitFor();
    await site.goTo(page, "/log");
    const entry = page.getByRole("row").filter({ hasText: "review.reject" }).first();
    // Readable, with a date.
    expect(await entry.textContent()).to.match(/Since: ?\d/i);
    await entry.getByRole("link", { name: "review.reject" }).click();
    await page.getByRole("heading", { name: /^Decision \d+$/ }).waitFor();
    await page.getByRole("link", { name: "Held marks rejected" }).click();
    await page.getByText("Rejected marks never count: no station has changed.").waitFor();
    await isClean(page);
    await page.getByRole("link", { name: "All decisions" }).click();
    const row = page.getByRole("row").filter({ hasText: "Held marks rejected" }).first();
    await row.getByRole("button", { name: /^Undo/ }).click();
    await isClean(page);
    await confirm(page, "Take it back");
    await row.getByText("taken back by olga").waitFor();
    await page.getByRole("row").filter({ hasText: "Rejection taken back" }).first().waitFor();
    await site.goTo(page, "/review");
    await group.waitFor();
    await group.getByRole("button", { name: /^Reject the group/ }).click();
    await confirm(page, "Reject");
    await page.getByText("No marks are held.").waitFor();
    expect(complaints(site.opened)).to.deep.equal([]);
  });

  itLong("shows what a rollback would change, changes exactly that, and back", async () => {
    const place = site.nextPlace++;
    const { id } = placeOf(place);
    await site.country.meet("good", 26 * 60);
    await site.country.meet("evil", 28 * 60);
    await site.partner.mark(placeOf(place), "good", { status: "yes" });
    await site.partner.mark(placeOf(place), "evil", { status: "queue", queue: "20+" });
    expect(await fuelOf(place)).to.include({ status: "queue" });
    const [evil] = await rows<{ id: number }>(
      site.country.db,
      "select reporter_id as id from marks where station_id = ? and status = 'queue'",
      [id],
    );
    const page = await signIn(`/rollback?reporter=${evil!.id}`);
    await press(page, "Show what would change");
    const row = page.getByRole("row").filter({ hasText: id });
    await row.waitFor();
    const shown = (await row.textContent()) ?? "";
    expect(shown).to.match(/Queue.*→.*Fuel/);
    const map = page.getByRole("img", { name: "Map. 1 station. Queue → Fuel: 1." });
    await map.waitFor();
    const title = map.locator(`[data-station=${id}] title`);
    expect(await title.textContent()).to.equal(`Station ${id}, Brand, Street 1: Queue → Fuel`);
    await isClean(page);
    expect(await fuelOf(place)).to.include({ status: "queue" });
    await press(page, /^Withdraw 1 mark\b/);
    await confirm(page, "Withdraw");
    await page.getByText("1 mark at 1 station was withdrawn.").waitFor();
    await until(
      () => fuelOf(place),
      ({ status }) => status === "yes",
    );
    await page.getByRole("heading", { name: "What has changed" }).waitFor();
    await map.waitFor();
    await press(page, "Take it back …");
    await confirm(page, "Take it back");
    await page.getByText("was withdrawn, and put back later.").waitFor();
    await until(
      () => fuelOf(place),
      ({ status }) => status === "queue",
    );
  });

  itLong("chooses what a rollback takes by names (decisions 13.24)", async () => {
    const { id } = placeOf(56);
    await rows(
      site.country.db,
      `insert into alarms (kind, subject, hour) values ('marks-held', 'network 5eed5eed', server_now())`,
    );
    await site.partner.mark(placeOf(56), "by-name", { status: "yes" });
    const [known] = await rows<{ id: number }>(
      site.country.db,
      "select reporter_id as id from marks where station_id = ?",
      [id],
    );
    const page = await signIn(`/rollback?station=${id}&network=ABCDEF0123`);
    const field = (name: string) => page.getByRole("combobox", { name });
    const option = (name: string | RegExp) => page.getByRole("option", { name });
    // An address gives ids, the page says names.
    await until(
      () => field("Station").inputValue(),
      (text) => text === `Station ${id} (${id})`,
    );
    expect(await field("Network of the map").inputValue()).to.equal("abcdef0123");
    await field("Network of the map").fill("");
    await option(/^5eed5eed/).click();

    await field("City").fill("тест");
    await option("Тестоград").waitFor();
    await isClean(page);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await field("City").inputValue()).to.equal("Тестоград");

    await field("Station").fill("Street 1 1031");
    await option(/n1031/).click();
    expect(await field("Station").inputValue()).to.equal("Station n1031 (n1031)");

    const key = page.getByLabel("Key", { exact: true });
    expect((await key.locator("option").allTextContents())[1]).to.match(
      /^Test partner, key .+ #1$/,
    );

    await press(page, /choose a reporter/);
    const dialog = page.getByRole("dialog", { name: "Choose a reporter" });
    await dialog.getByRole("combobox", { name: "Station that it marked" }).fill(id);
    await option(new RegExp(id)).click();
    await dialog.getByRole("button", { name: `reporter #${known!.id}` }).waitFor();
    await isClean(page);
    await dialog.getByLabel("Where the person marks").selectOption(String(site.country.partnerId));
    await dialog.getByLabel("The partner’s user_ref").fill("by-name");
    await dialog.getByRole("button", { name: "Find" }).click();
    await dialog.getByRole("button", { name: `Choose #${known!.id}` }).click();
    await page.getByText(`#${known!.id}, first seen`).waitFor();

    const sent = page.waitForRequest(/rollback\/preview/);
    await press(page, "Show what would change");
    const { since: _, ...conditions } = (await sent).postDataJSON() as Record<string, unknown>;
    expect(conditions).to.deep.equal({
      ...{ reporter: known!.id, station: "n1031", city: "Тестоград", network: "5eed5eed" },
    });
  });

  itLong("sends no rollback's conditions while a name in them stands for nothing", async () => {
    const page = await signIn("/rollback");
    const city = page.getByRole("combobox", { name: "City" });
    await city.fill("Atlantis");
    await page.getByText("Nothing fits.").waitFor();
    await press(page, "Show what would change");
    await city.and(page.locator("[aria-invalid=true]:invalid")).waitFor();
    expect(site.opened.requests.some((url) => url.includes("preview"))).to.equal(false);
    // What names one thing is taken as it was typed.
    await city.fill("тестоград");
    await press(page, "Show what would change");
    await page.getByRole("heading", { name: "What would change" }).waitFor();
    expect(await city.inputValue()).to.equal("Тестоград");
  });

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

  itLong("shows what marks did to a station's chance", async () => {
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
    await isClean(page);
    const view = await openPage({ width: 390, dark: true, locale: "ru-RU" });
    await signIn(`/stations/${place.id}`, "olga", view);
    await view.page.getByRole("img", { name: /^Сейчас \d+ %; / }).waitFor();
    await isClean(view.page);
    await site.goTo(view.page, "/chances");
    await view.page.getByRole("heading", { name: "Ложь по источникам" }).waitFor();
    await isClean(view.page);
  });

  itLong("lists who lies, and says it of held groups", async () => {
    await storeLies();
    await holdMark(site.partner, site.nextPlace++);
    const page = await signIn("/review");
    await page
      .getByText(/Of marks like these, .* \d+ % are taken for lies\./)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "taken for lies" }).first().click();
    await page.getByRole("heading", { name: "Lies by source" }).waitFor();
    const row = page.getByRole("table", { name: "Lies by source" }).getByRole("row").nth(1);
    expect(await row.innerText()).to.match(/says none/);
    await isClean(page);
  });
});
