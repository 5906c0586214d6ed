import { expect } from "chai";
import type { Page } from "playwright-core";
import { stationsInView } from "#test/browser/map-site.ts";
import { mapAt, marksOf, useOwnMap, sayOffline, titleOf } from "#test/browser/offline-drive.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { axeFaults, useBrowser, openPage } from "#test/harness/browser.ts";

/** Whether stations are kept, in the page's own words. */
const isHeld = `new Promise((done) => {
  const request = indexedDB.open("fuelmark");
  request.onerror = () => done(false);
  request.onsuccess = () => {
    const db = request.result;
    const all = db.transaction("kept").objectStore("kept").getAll();
    all.onsuccess = () => {
      db.close();
      done(all.result.some((one) => Array.isArray(one) && one.some((part) => part.stations.length > 0)));
    };
  };
})`;

describe("browser: the map without a network", function () {
  useBrowser();
  const site = useOwnMap();
  before(async () => {
    const api = createClient(site.web.baseUrl, site.country.secret);
    await api.mark(placeOf(5), "driver 5", { status: "yes", fuels: ["95"] });
    await until(
      () => api.get(`/stations/${placeOf(5).id}`),
      (answer) => answer.body.station.fuel.status !== "nodata",
    );
  });

  /** Until everything is kept that the map needs without a network. */
  const untilKept = async (page: Page): Promise<void> => {
    await until(
      () => page.evaluate<boolean>("navigator.serviceWorker.controller !== null"),
      (controlled) => controlled,
    );
    await until(
      () => page.evaluate<boolean>(isHeld),
      (held) => held,
    );
  };
  it("is installable, opens in aeroplane mode with its data and their age, finds in it, and forgets it", async () => {
    const { page, close } = await openPage({ installs: true, phone: true, width: 390 });
    await page.goto(mapAt(site, 5));
    const manifest = await page.locator('link[rel="manifest"]').getAttribute("href");
    const told = await fetch(new URL(manifest ?? "", `${site.web.baseUrl}/`));
    expect(await told.json()).to.include({
      name: "Fuel map",
      display: "standalone",
      start_url: "./",
    });
    const worker = await fetch(`${site.web.baseUrl}/service-worker.js`);
    expect(worker.headers.get("cache-control")).to.equal("no-cache");
    await stationsInView(page);
    await untilKept(page);
    await page.context().setOffline(true);
    await page.reload();
    await page.getByText(/^You are offline\. Last update: /).waitFor();
    expect(await stationsInView(page)).to.be.greaterThan(1);
    await page.getByRole("combobox", { name: "Search" }).fill(titleOf(5));
    await page.getByRole("option", { name: titleOf(5) }).click();
    await page.getByRole("heading", { name: titleOf(5) }).waitFor();
    await page.locator(".status-now.yes").waitFor();
    // In a tab of its own: the browser's own page about it comes a moment later.
    const other = await page.context().newPage();
    const elsewhere = await other.goto(`${site.web.baseUrl}/console/`).catch(() => "not kept");
    expect(elsewhere).to.equal("not kept");
    await other.close();
    // A station's own page, which was never opened.
    await page.goto(`${site.web.baseUrl}/s/${placeOf(6).id}`);
    await page.getByRole("heading", { name: titleOf(6) }).waitFor();
    await sayOffline(page, 4, "Fuel");
    const strip = page.locator(".outbox");
    await strip.getByText("1 mark waits for the network").click();
    expect(await axeFaults(page)).to.deep.equal([]);
    await page.getByRole("button", { name: `Do not send: ${titleOf(4)}` }).click();
    await strip.waitFor({ state: "detached" });
    await page.context().setOffline(false);
    await page.getByText(/^You are offline/).waitFor({ state: "detached" });
    expect(await marksOf(site, 4)).to.deep.equal([]);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Forget this device" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await page.getByText("This device is forgotten.").waitFor();
    expect(await page.evaluate("caches.keys()")).to.deep.equal([]);
    await close();
  });
});
