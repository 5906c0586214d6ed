import { expect } from "chai";
import { hourMs } from "#src/domain/units.ts";
import { tell } from "#test/browser/map-site.ts";
import { useOwnMap } from "#test/browser/offline-drive.ts";
import { writeChances } from "#test/flow/chances.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { isClean, openPage, useBrowser } from "#test/harness/browser.ts";
import { sized } from "#test/harness/long.ts";

// Stations 3, 5 and 9 have 95 since hours; the farther two are likelier. Decisions 23.20.
describe("browser: the chance beside the status", function () {
  useBrowser();
  const site = useOwnMap();
  before(async () => {
    const api = createClient(site.web.baseUrl, site.country.secret);
    const observed_at = new Date(Date.now() - 2 * hourMs).toISOString();
    const has = (price: number) => ({ status: "yes", fuels: ["95"], prices: { 95: price } });
    await tell(
      site,
      [3, 5, 9].map((n) => [n, { ...has(60 + n), observed_at }] as const),
    );
    const chances = new Map(
      Object.entries({ [placeOf(3).id]: 40, [placeOf(5).id]: 85, [placeOf(9).id]: 95 }),
    );
    await writeChances(site.country.db, chances);
    await until(
      () => api.get("/stations/all?chance_min=95"),
      ({ body }) => body.count === 1,
    );
  });

  const languages = [
    ["en", { phone: true, width: 390, height: 844 }, ["Likely", "Likely has 95 (85%)", "marks"]],
    [
      "ru",
      { width: 1280, height: 800, dark: true },
      ["Вернее", "Скорее всего есть 95 (85 %)", "отметкам"],
    ],
  ] as const;
  for (const [language, size, words] of languages.slice(0, sized(1, 2))) {
    it(`orders the nearest list by it and explains it on the card, in ${language}`, async () => {
      const { page } = await openPage({ ...size });
      await page.goto(`${site.web.baseUrl}/?city=Тестоград&fuel=95&lang=${language}`);
      const rows = page.locator(".panel .station-row button");
      await rows.first().waitFor();
      const ids = () => rows.evaluateAll((all) => all.map((one) => one.getAttribute("data-id")));
      expect(await ids()).to.deep.equal([3, 5, 9].map((n) => placeOf(n).id));
      await page.getByRole("radio", { name: words[0] }).check({ force: true });
      expect(await ids()).to.deep.equal([5, 9, 3].map((n) => placeOf(n).id));
      const said = (await rows.first().innerText()).replaceAll("\u00a0", " ");
      expect(said).to.include(words[1]);
      await isClean(page);
      await rows.first().click();
      const chance = page.locator(".status-now .chance");
      await chance.waitFor();
      expect(await chance.innerText()).to.include(words[2]);
      await isClean(page);
    });
  }
});
