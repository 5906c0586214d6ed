import { expect } from "chai";
import { frameOf, useMap, stationsInView } from "#test/browser/map-site.ts";
import { useBrowser, openPage } from "#test/harness/browser.ts";
import { sized } from "#test/harness/long.ts";

// Browsers isolate pages over https, and those of this machine: `*.localhost`.
const host = "shop.localhost";

describe("browser: the map on pages that are cross-origin isolated", function () {
  useBrowser();
  const site = useMap({ stations: 20, key: { domains: [host] } });

  for (const coep of sized(["require-corp"], ["require-corp", "credentialless"]))
    it(`is shown where the page sends ${coep}`, async () => {
      const { page, complaints, close } = await openPage();
      await page.goto(site.pageOn(host, { coep, city: "Testograd" }));
      expect(await page.evaluate("self.crossOriginIsolated")).to.equal(true);
      expect(await stationsInView(frameOf(page))).to.be.greaterThan(0);
      expect(complaints).to.deep.equal([]);
      await close();
    });
});
