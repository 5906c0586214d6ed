import { expect } from "chai";
import type { Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { frameOf, stationsInView, useMap } from "#test/browser/map-site.ts";
import { placeOf } from "#test/flow/country.ts";
import { isClean, openPage, press, useBrowser } from "#test/harness/browser.ts";
import { itLong, sized, windowsTried } from "#test/harness/long.ts";

/** What a page's script gets: the answer, or the browser's word that it may not have it. */
interface Got {
  status?: number;
  headers?: Record<string, string>;
  body?: { count?: number; type?: string; accepted?: boolean };
  fault?: string;
}

describe("browser: the map and a partner's pages", function () {
  const { id } = placeOf(0);
  // Browsers isolate pages over https, and those of this machine: `*.localhost`.
  const isolated = "shop.localhost";

  useBrowser();
  const site = useMap({
    roles: ["marks"],
    key: { domains: ["shop.test", isolated], reports: true },
  });
  before(async () => {
    await rows(site.country.db, "update stations set name = ? where id = ?", [
      `<img src=x onerror="document.title='taken'"><b>bold</b>`,
      id,
    ]);
    await rows(site.country.db, "select feed_stamp(array[?])", [id]);
  });

  for (const host of sized(["shop.test"], ["shop.test", "deep.in.shop.test"])) {
    it(`shows its stations in a page on ${host}`, async () => {
      const { page, complaints } = await openPage();
      await page.goto(site.pageOn(host, { city: "тестоград" }));
      expect(await stationsInView(frameOf(page))).to.be.greaterThan(10);
      expect(complaints).to.deep.equal([]);
    });
  }

  for (const host of ["shop.test.evil.test", "notshop.test", "evil.test"]) {
    itLong(`says on ${host} that it is not for that website`, async () => {
      const { page } = await openPage();
      await page.goto(site.pageOn(host));
      const frame = frameOf(page);
      await frame.getByRole("heading", { name: "The map is not for this website" }).waitFor();
      expect(await frame.getByRole("region").count()).to.equal(0);
    });
  }

  for (const coep of ["require-corp", "credentialless"])
    itLong(`is shown where the page is cross-origin isolated and sends ${coep}`, async () => {
      const { page, complaints } = await openPage();
      await page.goto(site.pageOn(isolated, { coep, city: "Testograd" }));
      expect(await page.evaluate("self.crossOriginIsolated")).to.equal(true);
      expect(await stationsInView(frameOf(page))).to.be.greaterThan(0);
      expect(complaints).to.deep.equal([]);
    });

  for (const [width, dark] of windowsTried) {
    it(`has no accessibility fault at ${width} px, ${dark ? "dark" : "light"}, shows markup as text, and asks no other host`, async () => {
      const { page, requests } = await openPage({ width, dark });
      await page.goto(site.widgetUrl({ lat: "55", lon: "37", zoom: "15" }));
      await stationsInView(page);
      await isClean(page, "list");
      await page.getByRole("button", { name: "<img src=x" }).click();
      await page.getByRole("heading", { name: "<b>bold</b>" }).waitFor();
      expect(await page.title()).to.equal("Fuel map");
      await isClean(page, "card");
      await press(page, "Update status");
      await press(page, "Add details");
      await isClean(page, "form");
      await page.keyboard.press("Escape");
      await press(page, "Filters");
      await isClean(page, "filters");
      const foreign = requests.filter((url) => !url.startsWith(`${site.web.baseUrl}/`));
      expect(foreign.filter((url) => !url.startsWith("data:"))).to.deep.equal([]);
    });
  }

  describe("whose own script calls the API (decisions 8.34, 8.35)", () => {
    const area = "/stations?bbox=-90,-180,90,180";

    /** The map in the page runs no script: nobody looks at it. */
    const onPage = (page: Page, host: string) => page.goto(site.pageOn(host, { sandbox: "" }));
    const get = (page: Page, path: string, key = site.key, init: object = {}): Promise<Got> => {
      const headers = { Authorization: `Bearer ${key}`, ...(init as { headers?: object }).headers };
      const url = `${site.web.baseUrl}/api/v1/partner${path}`;
      const call = JSON.stringify([url, { ...init, headers }]);
      return page.evaluate<Got>(`(async () => {
        try {
          const answer = await fetch(...${call});
          const text = await answer.text();
          return { status: answer.status, headers: Object.fromEntries(answer.headers), body: text === "" ? undefined : JSON.parse(text) };
        } catch (error) { return { fault: String(error) }; }
      })()`);
    };

    it("gets stations, headers and refusals on the key's domains and sends marks there, and learns nothing elsewhere", async () => {
      const { page } = await openPage();
      for (const host of ["shop.test", "www.shop.test"]) {
        await onPage(page, host);
        const { status, headers, body } = await get(page, area);
        expect([status, body?.count]).to.deep.equal([200, 60]);
        expect(headers).to.include.keys("etag", "x-ratelimit-remaining", "x-request-id");
        const refused = await get(page, "/usage");
        // No preflight lets it through: the browser hides a path that only servers may call.
        expect(refused.fault).to.match(/Failed to fetch/);
        const missing = await get(page, "/stations?lat=1&lon=1");
        expect([missing.status, missing.body?.type?.split("/").at(-1)]).to.deep.equal([
          403,
          "secret-key-required",
        ]);
        // The browser keeps the answer, asks by itself whether it is still good, and shows the page a 200.
        const again = await get(page, area);
        expect([again.status, again.body?.count]).to.deep.equal([200, 60]);
        const unchanged = await get(page, area, site.key, {
          headers: { "If-None-Match": headers!["etag"] },
        });
        expect(unchanged.status).to.equal(304);
      }
      // Nothing at all with a secret key.
      expect((await get(page, area, site.country.secret)).fault).to.match(/Failed to fetch/);
      // This one needs a preflight.
      const sent = await get(page, `/widget/stations/${id}/report`, site.key, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ device: "a page's own device", status: "yes" }),
      });
      expect(sent.status).to.be.oneOf([200, 202]);
      expect(sent.body?.accepted).to.equal(true);
      await onPage(page, "shop.test.evil.test");
      expect((await get(page, area)).fault).to.match(/Failed to fetch/);
      expect((await get(page, area, site.country.secret)).fault).to.match(/Failed to fetch/);
    });
  });
});
