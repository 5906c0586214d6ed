import { expect } from "chai";
import { axeFaults, fitsWidth, openPage, useBrowser } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

describe("browser: the harness itself", () => {
  useBrowser();

  itLong("sees the faults of a page whose policy lets no script in", async () => {
    const { page, requests } = await openPage({ width: 320 });
    await page.route("http://shop.test/", (route) =>
      route.fulfill({
        headers: { "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'" },
        contentType: "text/html",
        body: '<img src="x.png"><p style="width:2000px">wide</p>',
      }),
    );
    await page.goto("http://shop.test/");
    const faults = await axeFaults(page);
    expect(faults.join("\n")).to.include("image-alt");
    expect(await fitsWidth(page)).to.equal(false);
    expect(requests[0]).to.equal("http://shop.test/");
  });
});
