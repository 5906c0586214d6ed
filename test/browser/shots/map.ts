import type { Page } from "playwright-core";
import { fillDemoCountry } from "#demo/country/fill.ts";
import { issueConsumerKey } from "#src/keys/consumer-key.ts";
import { createDb, type Db } from "#src/infrastructure/db.ts";
import { addKey, addPartner } from "#test/api/edge.ts";
import { stationsInView } from "#test/browser/map-site.ts";
import { createClient } from "#test/flow/client.ts";
import { openPage, sharp, useBrowser, type PageOptions } from "#test/harness/browser.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";

interface Spot {
  lat: number;
  lon: number;
}

// Part of `npm run screenshots`: docs/images/map*.png and embed.png, of the demo country.
describe("screenshots: map", function () {
  this.timeout(300_000);
  let instance: TestInstance;
  let db: Db;
  let web: RunningRole;
  let key: string;
  let told: Spot;
  let waiting: Spot;

  useBrowser();
  before(async function () {
    this.timeout(300_000);
    instance = await createTestInstance();
    db = createDb({ ...instance.config, queryTimeoutMs: 120_000 }, "screenshots");
    await fillDemoCountry({ db, config: instance.config, log: () => {} });
    const partner = await addPartner(db, { rpm: 100_000, daily: 1_000_000 });
    const secret = await addKey(db, partner);
    key = await addKey(db, partner, "publishable", { domains: ["roadside.example"] });
    await issueConsumerKey(db, instance.config);
    web = await startRole("web", instance.env);
    const api = createClient(web.baseUrl, secret);
    const { body } = await api.get(
      `/stations?city=${encodeURIComponent("Санкт-Петербург")}&radius_km=5`,
    );
    const stations = body.stations as (Spot & { fuel: Record<string, string | number> })[];
    const best = (worth: (fuel: Record<string, string | number>) => number): Spot =>
      stations.reduce((a, b) => (worth(b.fuel) > worth(a.fuel) ? b : a));
    told = best(
      ({ status, prices, fuels_now: there, fuels_no: gone, confirmations }) =>
        (status === "yes" ? 100 : 0) +
        String(prices ?? "").length +
        String(there).length +
        (gone === "" ? 0 : 20) +
        Math.min(Number(confirmations), 4) * 5,
    );
    waiting = best(
      ({ pending_status: pending, status }) =>
        (pending === "" ? 0 : 10) + (status === "nodata" ? 0 : 5),
    );
  });
  after(async () => {
    await web?.stop();
    await db?.destroy();
    await instance?.drop();
  });

  const map = (parameters: Record<string, string | number>): string =>
    `${web.baseUrl}/widget/?${new URLSearchParams({ key, ...parameters } as Record<string, string>).toString()}`;
  const city = { city: "Москва" };
  const at = (spot: Spot, zoom: number) => ({ lat: spot.lat, lon: spot.lon, zoom });
  /** Opens the card of the station in the middle. */
  const openCard = async (page: Page): Promise<void> => {
    await stationsInView(page);
    await page.locator(".stations button").first().click();
    await page.locator(".status-now").waitFor();
  };

  const desk = { width: 1280, height: 760 };
  const phone = { width: 390, height: 780, phone: true };
  const views: [
    name: string,
    options: PageOptions,
    parameters: () => Record<string, string | number>,
    prepare?: (page: Page) => Promise<void>,
  ][] = [
    ["map-country", desk, () => ({ lat: 52.5, lon: 41, zoom: 4.3 })],
    ["map-dark", { ...desk, dark: true }, () => city],
    [
      "map-filters",
      desk,
      () => city,
      (page) => page.getByRole("button", { name: "Filters" }).click(),
    ],
    ["map-phone", phone, () => city],
    ["map-phone-card", phone, () => at(waiting, 14), openCard],
    [
      "map-phone-form",
      { ...phone, dark: true },
      () => at(told, 14),
      async (page) => {
        await openCard(page);
        await page.getByRole("button", { name: "Update status" }).click();
        await page.getByRole("button", { name: "Add details" }).click();
        await page.getByRole("button", { name: "Fuel", exact: true }).click();
      },
    ],
  ];
  it("takes map.png, as a driver finds it", async () => {
    const { page } = await openPage(sharp(desk));
    await page.goto(`${web.baseUrl}/?lat=59.94&lon=30.2&zoom=8.9&fuel=95`);
    await page.getByRole("region", { name: "Map of filling stations" }).waitFor();
    await page.getByRole("heading", { name: "Nearest with 95" }).waitFor();
    await drawn(page);
    await page.screenshot({ path: "docs/images/map.png" });
  });

  for (const [name, options, parameters, prepare] of views) {
    it(`takes ${name}.png`, async () => {
      const { page } = await openPage(sharp(options));
      await page.goto(map(parameters()));
      await page.getByRole("region", { name: "Map of filling stations" }).waitFor();
      await drawn(page);
      await prepare?.(page);
      await drawn(page);
      await page.screenshot({ path: `docs/images/${name}.png` });
    });
  }

  it("takes embed.png", async () => {
    const { page } = await openPage(sharp({ width: 1280, height: 1320 }));
    await page.goto(`${web.baseUrl}/widget/embed?key=${key}`);
    await page.getByText("roadside.example", { exact: true }).waitFor();
    await page.getByLabel("a city").check();
    await page.getByRole("combobox", { name: "City" }).fill("Казань");
    await page.getByLabel("Your website").fill("www.roadside.example");
    await page.locator("iframe").contentFrame().getByRole("region").waitFor();
    await drawn(page);
    await page.screenshot({ path: "docs/images/embed.png" });
  });

  /** Waits until nothing more is asked for and the map has had the time to draw what it has. */
  async function drawn(page: Page): Promise<void> {
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(4000);
  }
});
