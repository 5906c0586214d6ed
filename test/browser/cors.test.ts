import { expect } from "chai";
import type { Page } from "playwright-core";
import { placeOf } from "#test/flow/country.ts";
import { useMap } from "#test/browser/map-site.ts";
import { useBrowser, openPage, type OpenedPage } from "#test/harness/browser.ts";

const { id } = placeOf(0);

/** What a page's script gets: the answer, or the browser's word that it may not have it. */
interface Got {
  status?: number;
  headers?: Record<string, string>;
  body?: { count?: number; type?: string; accepted?: boolean };
  fault?: string;
}

describe("browser: a partner's own page calls the API (decisions 8.34, 8.35)", function () {
  let opened: OpenedPage;

  useBrowser();
  const site = useMap({ stations: 20, roles: ["marks"], key: { reports: true } });
  before(async () => {
    opened = await openPage();
  });
  after(async () => {
    await opened?.close();
  });

  const onPage = async (host: string): Promise<Page> => {
    await opened.page.goto(site.pageOn(host));
    return opened.page;
  };
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
  const area = "/stations?bbox=-90,-180,90,180";

  it("reads stations, headers and refusals on the key's domain and below it", async () => {
    for (const host of ["shop.test", "www.shop.test"]) {
      const page = await onPage(host);
      const { status, headers, body } = await get(page, area);
      expect([status, body?.count]).to.deep.equal([200, 20]);
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
      expect([again.status, again.body?.count]).to.deep.equal([200, 20]);
      const unchanged = await get(page, area, site.key, {
        headers: { "If-None-Match": headers!["etag"] },
      });
      expect(unchanged.status).to.equal(304);
    }
  });

  it("sends a mark there, which needs a preflight", async () => {
    const page = await onPage("shop.test");
    const { status, body } = await get(page, `/widget/stations/${id}/report`, site.key, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ device: "a page's own device", status: "yes" }),
    });
    expect(status).to.be.oneOf([200, 202]);
    expect(body?.accepted).to.equal(true);
  });

  it("learns nothing elsewhere, and nothing at all with a secret key", async () => {
    const elsewhere = await onPage("shop.test.evil.test");
    expect((await get(elsewhere, area)).fault).to.match(/Failed to fetch/);
    expect((await get(elsewhere, area, site.country.secret)).fault).to.match(/Failed to fetch/);
    const page = await onPage("shop.test");
    expect((await get(page, area, site.country.secret)).fault).to.match(/Failed to fetch/);
    expect((await get(page, area)).status).to.equal(200);
  });
});
