import { mkdtemp, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { issueConsumerKey } from "#src/keys/consumer-key.ts";
import { chromiumFlags, findChromium } from "#demo/chromium.ts";
import { type MapSite, openMapSite, sendNow, stationsInView } from "#test/browser/map-site.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { axeFaults, openBrowser, openPage } from "#test/harness/browser.ts";

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
  let browser: Browser;
  let site: MapSite;
  const there = (n: number): string => {
    const { lat, lon } = placeOf(n);
    return `${site.web.baseUrl}/?lat=${lat}&lon=${lon}&zoom=14&gestures=greedy`;
  };
  const title = (n: number): string => `Station ${placeOf(n).id}`;

  before(async function () {
    browser = await openBrowser(this);
    site = await openMapSite({ stations: 40, roles: ["marks"] });
    const api = createClient(site.web.baseUrl, site.country.secret);
    await api.mark(placeOf(5), "driver 5", { status: "yes", fuels: ["95"] });
    await until(
      () => api.get(`/stations/${placeOf(5).id}`),
      (answer) => answer.body.station.fuel.status !== "nodata",
    );
    await issueConsumerKey(site.country.db, site.instance.config);
    await until(
      () => fetch(`${site.web.baseUrl}/`, { redirect: "manual" }),
      ({ status }) => status === 200,
    );
  });
  after(async () => {
    await site?.stop();
    await browser?.close();
  });

  /** Until everything is kept that the map needs without a network. */
  const untilKept = async (page: Page): Promise<void> => {
    await page.waitForFunction("navigator.serviceWorker.controller !== null");
    await until(
      () => page.evaluate<boolean>(isHeld),
      (held) => held,
    );
  };
  const say = async (page: Page, n: number, status: string): Promise<void> => {
    await stationsInView(page);
    await page.getByRole("button", { name: title(n) }).click();
    await page.getByRole("button", { name: "Update status" }).click();
    await page.getByRole("button", { name: status, exact: true }).click();
    await sendNow(page);
    await page.getByText("Your mark is kept on this device").waitFor();
  };
  const marksOf = (n: number) =>
    rows<{ received: number; effective: number }>(
      site.country.db,
      `select extract(epoch from received_at)::float8 * 1000 as received,
         extract(epoch from effective_at)::float8 * 1000 as effective
       from marks where station_id = ? and source = 'widget'`,
      [placeOf(n).id],
    );

  it("is installable, opens in aeroplane mode with its data and their age, finds in it, and forgets it", async () => {
    const { page, close } = await openPage(browser, { installs: true, phone: true, width: 390 });
    await page.goto(there(5));
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
    await page.getByRole("combobox", { name: "Search" }).fill(title(5));
    await page.getByRole("option", { name: title(5) }).click();
    await page.getByRole("heading", { name: title(5) }).waitFor();
    await page.locator(".status-now.yes").waitFor();
    // A station's own page, which was never opened.
    await page.goto(`${site.web.baseUrl}/s/${placeOf(6).id}`);
    await page.getByRole("heading", { name: title(6) }).waitFor();
    await say(page, 7, "Fuel");
    const strip = page.locator(".outbox");
    await strip.getByText("1 mark waits for the network").click();
    await page.screenshot({ path: "/tmp/off2.png" });
    expect(await axeFaults(page)).to.deep.equal([]);
    await page.getByRole("button", { name: `Do not send the mark of ${title(7)}` }).click();
    await strip.waitFor({ state: "detached" });
    await page.context().setOffline(false);
    await page.getByText(/^You are offline/).waitFor({ state: "detached" });
    expect(await marksOf(7)).to.deep.equal([]);
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByRole("button", { name: "Forget this device" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await page.getByText("This device is forgotten.").waitFor();
    expect(await page.evaluate("caches.keys()")).to.deep.equal([]);
    await close();
  });

  it("sends a mark once, with its time, when the browser was killed in aeroplane mode and two tabs come back", async function () {
    const executablePath = (await findChromium(() => {}))!;
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-driver-"));
    const start = (): Promise<BrowserContext> =>
      chromium.launchPersistentContext(folder, {
        ...{ executablePath, args: chromiumFlags, locale: "en-GB", deviceScaleFactor: 0.25 },
        reducedMotion: "reduce",
      });
    const before = await start();
    try {
      const page = before.pages()[0] ?? (await before.newPage());
      await page.goto(there(20));
      await stationsInView(page);
      const from = Date.now();
      await before.setOffline(true);
      await say(page, 20, "No fuel");
      const until_ = Date.now();
      // The browser leaves a link that names its process.
      const pid = Number((await readlink(join(folder, "SingletonLock"))).split("-").at(-1));
      const gone = new Promise((done) => before.once("close", done));
      process.kill(pid, "SIGKILL");
      await gone;
      const back = await start();
      try {
        const tabs = [back.pages()[0] ?? (await back.newPage()), await back.newPage()];
        await Promise.all(tabs.map((tab) => tab.goto(there(20))));
        const arrived = await until(
          () => marksOf(20),
          (marks) => marks.length > 0,
        );
        await Promise.all(tabs.map((tab) => stationsInView(tab)));
        await Promise.all(tabs.map((tab) => tab.locator(".outbox").waitFor({ state: "detached" })));
        expect(await marksOf(20)).to.have.length(1);
        const [{ received, effective } = { received: 0, effective: 0 }] = arrived;
        expect(effective).to.be.within(from - 1000, until_ + 1000);
        expect(received).to.be.greaterThan(effective);
      } finally {
        await back.close();
      }
    } finally {
      await before.close().catch(() => {});
      await rm(folder, { recursive: true, force: true });
    }
  });
});
