import { mkdtemp, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type BrowserContext, chromium } from "playwright-core";
import { chromiumFlags, findChromium } from "#demo/chromium.ts";
import { stationsInView } from "#test/browser/map-site.ts";
import { mapAt, marksOf, sayOffline, useOwnMap } from "#test/browser/offline-drive.ts";
import { until } from "#test/flow/client.ts";

describe("long: a browser that is killed without a network", function () {
  this.timeout(300_000);
  const site = useOwnMap();

  it("sends a mark once, with its time, when the browser was killed in aeroplane mode and two tabs come back", async function () {
    const executablePath = await findChromium(() => {});
    if (executablePath === null) this.skip();
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-driver-"));
    const start = (): Promise<BrowserContext> =>
      chromium.launchPersistentContext(folder, {
        ...{ executablePath, args: chromiumFlags, locale: "en-GB", deviceScaleFactor: 0.25 },
        reducedMotion: "reduce",
      });
    const before = await start();
    try {
      const page = before.pages()[0] ?? (await before.newPage());
      await page.goto(mapAt(site, 20));
      await stationsInView(page);
      const from = Date.now();
      await before.setOffline(true);
      await sayOffline(page, 20, "No fuel");
      const to = Date.now();
      // The browser leaves a link that names its process.
      const pid = Number((await readlink(join(folder, "SingletonLock"))).split("-").at(-1));
      const gone = new Promise((done) => before.once("close", done));
      process.kill(pid, "SIGKILL");
      await gone;
      const back = await start();
      try {
        const tabs = [back.pages()[0] ?? (await back.newPage()), await back.newPage()];
        await Promise.all(tabs.map((tab) => tab.goto(mapAt(site, 20))));
        const arrived = await until(
          () => marksOf(site, 20),
          (marks) => marks.length > 0,
        );
        await Promise.all(tabs.map((tab) => stationsInView(tab)));
        await Promise.all(tabs.map((tab) => tab.locator(".outbox").waitFor({ state: "detached" })));
        expect(await marksOf(site, 20)).to.have.length(1);
        const [{ received, effective } = { received: 0, effective: 0 }] = arrived;
        expect(effective).to.be.within(from - 1000, to + 1000);
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
