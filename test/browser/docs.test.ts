import { expect } from "chai";
import type { Browser } from "playwright-core";
import { type Edge, startEdge, startInstance } from "#test/api/edge.ts";
import { fitsWidth, openBrowser, openPage } from "#test/harness/browser.ts";
import type { TestInstance } from "#test/harness/instance.ts";

describe("browser: the viewer of the OpenAPI document", () => {
  let browser: Browser;
  let instance: TestInstance;
  let edge: Edge;

  before(async function () {
    browser = await openBrowser(this);
    instance = await startInstance();
    edge = await startEdge(instance.config);
  });
  after(async () => {
    await edge?.stop();
    await instance?.drop();
    await browser?.close();
  });

  it("shows operations, problems and fields, wide and narrow, from this server alone", async () => {
    const { page, complaints, requests, close } = await openPage(browser);
    const origin = `http://127.0.0.1:${edge.port}`;
    await page.goto(`${origin}/docs`);
    const report = page.locator("#operations-Marks-reportStation");
    await report.getByRole("button").first().click();
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await report.getByText("station-cooldown").first().waitFor();
      await report.getByText("X-RateLimit-Daily-Remaining").first().waitFor();
      await report.getByText("user_ref").first().waitFor();
      expect(await fitsWidth(page), `${width} px`).to.equal(true);
    }
    // Keys do not belong into a page.
    expect(await page.getByRole("button", { name: /authorize|execute/i }).count()).to.equal(0);
    expect(complaints).to.deep.equal([]);
    const foreign = (url: string) => !url.startsWith(`${origin}/`) && !url.startsWith("data:");
    expect(requests.filter(foreign)).to.deep.equal([]);
    await close();
  });
});
