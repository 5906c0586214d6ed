import { expect } from "chai";
import type { Browser } from "playwright-core";
import { frameOf, type MapSite, openMapSite, stationsInView } from "#test/browser/map-site.ts";
import { openBrowser, openPage } from "#test/harness/browser.ts";

// Browsers isolate pages over https, and those of this machine: `*.localhost`.
const host = "shop.localhost";

describe("browser: the map on pages that are cross-origin isolated", function () {
  let browser: Browser;
  let site: MapSite;

  before(async function () {
    browser = await openBrowser(this);
    site = await openMapSite({ stations: 20, key: { domains: [host] } });
  });
  after(async () => {
    await site?.stop();
    await browser?.close();
  });

  for (const coep of ["require-corp", "credentialless"])
    it(`is shown where the page sends ${coep}`, async () => {
      const { page, complaints, close } = await openPage(browser);
      await page.goto(site.pageOn(host, { coep, city: "Testograd" }));
      expect(await page.evaluate("self.crossOriginIsolated")).to.equal(true);
      expect(await stationsInView(frameOf(page))).to.be.greaterThan(0);
      expect(complaints).to.deep.equal([]);
      await close();
    });
});
