import { expect } from "chai";
import { addKey, addPartner, useEdge } from "#test/api/edge.ts";
import { fitsWidth, isClean, openPage, useBrowser } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

describe("browser: the API and the guide", () => {
  useBrowser();
  const edge = useEdge();

  it("lists, finds and shows every call with samples, and tries it, from this server alone", async () => {
    const { origin } = edge;
    const key = await addKey(edge.db, await addPartner(edge.db));
    const { page, complaints, requests } = await openPage({ width: 1280 });
    const document = (await (await fetch(`${edge.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string; summary: string }>>;
    };
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    await page.goto(`${origin}/docs/api/reportStation`);
    // Its script has run.
    await page.locator("html.script").waitFor();

    const sidebar = page.getByRole("navigation", { name: "Documentation" });
    for (const { operationId, summary } of operations) {
      const entry = sidebar.locator(`a[href$="/docs/api/${operationId}"]`);
      expect(await entry.textContent(), operationId).to.contain(summary);
    }
    const search = sidebar.getByRole("searchbox", { name: "Search" });
    // It stands in the text alone.
    await search.fill("radius_km");
    const nearest = sidebar.getByRole("listitem").filter({ hasText: "/stations" }).first();
    await nearest.locator(".place mark").getByText("radius_km").waitFor();
    expect(await sidebar.getByRole("status").textContent()).to.match(/^\d+ found$/);
    await search.fill("erase DELETE");
    await sidebar.locator('a[href$="/docs/api/eraseUser"]').waitFor();
    await search.fill("no-such-word-anywhere");
    expect(await sidebar.getByRole("status").textContent()).to.equal("Nothing found");
    expect(await sidebar.getByRole("link").count()).to.equal(0);
    await search.fill("");
    expect(await sidebar.locator(".place").count()).to.equal(0);

    const main = page.getByRole("main");
    const tabs = main.getByRole("tab");
    expect(await tabs.allTextContents()).to.deep.equal(["curl", "TypeScript", "Python"]);
    const sample = main.getByRole("tabpanel").locator("code");
    expect(await sample.textContent()).to.match(/^curl .*\/report"/);
    await tabs.getByText("Python").click();
    expect(await sample.textContent()).to.match(/^import json, os, urllib\.request/);

    await main.getByText("user_ref", { exact: true }).first().waitFor();
    const refused = main.locator("details.answer").filter({ has: page.getByText("429") });
    await refused.locator("summary").first().click();
    await refused.getByText("Example: station-cooldown").waitFor();
    await refused.getByText("Headers", { exact: true }).click();
    await refused.getByText("X-RateLimit-Daily-Remaining").waitFor();
    // Nobody should store a mark by trying.
    expect(await main.getByLabel("X-Dry-Run").inputValue()).to.equal("1");

    await search.fill("used /usage");
    await search.press("Enter");
    await page.waitForURL(`${origin}/docs/api/getUsage`);
    await page.locator("html.script").waitFor();
    // The choice of the language holds on each page.
    expect(await sample.textContent()).to.match(/^import json, os, urllib\.parse/);
    await main.getByLabel("Key").fill(key);
    await main.getByLabel("days").fill("3");
    await main.getByRole("button", { name: "Send" }).click();
    const outcome = main.getByRole("group", { name: "Answer" });
    await outcome.waitFor();
    expect(await main.getByRole("status").textContent()).to.match(
      /^200 after \d+ ms, \d+ requests/,
    );
    const usage = JSON.parse((await outcome.textContent())!) as { days: object[] };
    expect(usage.days).to.have.length(3);
    expect(requests).to.include(`${edge.url}/usage?days=3`);
    await main.getByRole("button", { name: "Forget the key" }).click();
    expect(await main.getByLabel("Key").inputValue()).to.equal("");
    expect(await page.evaluate<string>("JSON.stringify({ ...sessionStorage })")).to.equal("{}");

    expect(complaints).to.deep.equal([]);
    expect(requests.filter((url) => !url.startsWith(`${origin}/`))).to.deep.equal([]);
  });

  itLong("can be read on a phone, in both themes, without a fault that axe finds", async () => {
    const { origin } = edge;
    const { page, complaints } = await openPage({
      ...{ width: 390, height: 844, phone: true, dark: true },
    });
    const themeNow = (): Promise<string> => page.evaluate("document.documentElement.dataset.theme");
    const ground = (): Promise<string> =>
      page.evaluate("getComputedStyle(document.body).background");
    for (const path of [
      "/docs",
      "/docs/guide/the-record-of-a-station",
      "/docs/api/reportStation",
    ]) {
      await page.goto(origin + path);
      await page.locator("html.script").waitFor();
      expect(await fitsWidth(page), path).to.equal(true);
      expect(await themeNow()).to.equal("dark");
    }
    for (const one of await page.locator("main details").all())
      await one.evaluate((element) => element.setAttribute("open", ""));
    expect(await fitsWidth(page)).to.equal(true);
    await isClean(page);

    await page.goto(`${origin}/docs/guide/the-first-call`);
    await page.locator("html.script").waitFor();
    expect(await page.getByRole("tab").allTextContents()).to.have.members([
      ...["curl", "TypeScript", "Python"],
    ]);
    const dark = await ground();
    await page.getByRole("button", { name: "Light theme" }).click();
    expect(await themeNow()).to.equal("light");
    expect(await ground()).not.to.equal(dark);
    await isClean(page);

    const menu = page.getByRole("button", { name: "Menu" });
    const link = page.getByRole("link", { name: "Keep a copy" });
    expect(await link.isVisible()).to.equal(false);
    await menu.click();
    expect(await link.isVisible()).to.equal(true);
    expect(await fitsWidth(page)).to.equal(true);
    await isClean(page);
    await page.keyboard.press("Escape");
    expect(await link.isVisible()).to.equal(false);
    await menu.click();
    await link.click();
    await page.waitForURL(`${origin}/docs/guide/keep-a-copy`);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).to.equal("Keep a copy");
    expect(complaints).to.deep.equal([]);
  });
});
