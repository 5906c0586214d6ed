import { expect } from "chai";
import type { Page } from "playwright-core";
import { frameOf, useMap, sendNow, stationsInView } from "#test/browser/map-site.ts";
import { placeOf } from "#test/flow/country.ts";
import { isClean, openPage, useBrowser } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

describe("browser: the map's parameters and ways to use it", function () {
  const { lat, lon, id } = placeOf(0);
  const here = { lat: String(lat), lon: String(lon), zoom: "17" };

  useBrowser();
  const site = useMap({ roles: ["marks"] });

  const ready = (page: Page) =>
    page.getByRole("region", { name: "Map of filling stations" }).waitFor();
  const open = async (parameters: Record<string, string>, options = {}) => {
    const opened = await openPage(options);
    await opened.page.goto(site.widgetUrl(parameters));
    await ready(opened.page);
    return opened;
  };
  const themeOf = (page: Page) => page.evaluate<string>("document.documentElement.dataset.theme");

  itLong("opens on a point, and on a city", async () => {
    const point = await open(here);
    expect(await stationsInView(point.page)).to.be.lessThan(10);
    await point.page.getByRole("button", { name: `Station ${id}` }).waitFor();
    await point.page.goto(site.widgetUrl({ lat: "60", lon: "30", city: "Тестоград" }));
    await point.page.getByText("There are no stations here").waitFor();
    await point.page.goto(site.widgetUrl({ city: "ТЕСТОГРАД" }));
    expect(await stationsInView(point.page)).to.be.greaterThan(10);
    expect(point.complaints).to.deep.equal([]);
  });

  itLong("starts in the theme that is asked for, and remembers the viewer's choice", async () => {
    const { page } = await open({ ...here, theme: "dark" });
    expect(await themeOf(page)).to.equal("dark");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Light theme" }).click();
    expect(await themeOf(page)).to.equal("light");
    await page.reload();
    await ready(page);
    expect(await themeOf(page)).to.equal("light");
    await page.goto(site.widgetUrl({ ...here, theme: "dark", themelock: "1" }));
    await ready(page);
    expect(await themeOf(page)).to.equal("dark");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("link", { name: "Service status" }).waitFor();
    expect(await page.getByRole("button", { name: /theme/ }).count()).to.equal(0);
  });

  itLong("follows the system by itself", async () => {
    const { page } = await open(here, { dark: true });
    expect(await themeOf(page)).to.equal("dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator('html[data-theme="light"]').waitFor();
  });

  itLong("shares gestures with the page around it in a frame alone, unless told", async () => {
    const { page } = await openPage();
    const shares = ".maplibregl-cooperative-gestures";
    for (const [parameters, inFrame, alone] of [
      [{}, 1, 0],
      [{ gestures: "greedy" }, 0, 0],
      [{ gestures: "cooperative" }, 1, 1],
    ] as const) {
      await page.goto(site.pageOn("shop.test", parameters));
      const frame = frameOf(page);
      await frame.getByRole("region", { name: "Map of filling stations" }).waitFor();
      expect(await frame.locator(shares).count()).to.equal(inFrame);
      await page.goto(site.widgetUrl(parameters));
      await ready(page);
      expect(await page.locator(shares).count()).to.equal(alone);
    }
  });

  itLong("speaks the language and wears the colour of its address", async () => {
    const { page } = await open({ ...here, lang: "en", accent: "ffe000" }, { locale: "ru-RU" });
    await page.getByRole("button", { name: "Filters", exact: true }).waitFor();
    expect(await page.evaluate<string>("document.documentElement.lang")).to.equal("en");
    const colour = () =>
      page.evaluate<string>(
        "getComputedStyle(document.documentElement).getPropertyValue('--accent')",
      );
    // Yellow cannot be read on white: it is darker there.
    expect(await colour()).not.to.equal("rgb(255 224 0)");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Dark theme" }).click();
    expect(await colour()).to.equal("rgb(255 224 0)");
    await isClean(page);
  });

  itLong("tells the page around it what happens, and no page without a frame", async () => {
    const { page } = await openPage();
    await page.addInitScript(
      `window.told = []; addEventListener("message", ({ origin, data }) => {
         const isToldOf = /^fuelmark:(?!height)/.test(data?.type);
         if (isToldOf) window.told.push({ origin, ...data });
       })`,
    );
    await page.goto(site.pageOn("shop.test", here));
    const frame = frameOf(page);
    await stationsInView(frame);
    await frame.getByRole("button", { name: `Station ${id}` }).click();
    await frame.getByRole("button", { name: "Update status" }).click();
    await frame.getByRole("button", { name: "Queue", exact: true }).click();
    await sendNow(frame);
    await page.waitForFunction("window.told.some((one) => one.type === 'fuelmark:mark-sent')");
    const { origin } = new URL(site.web.baseUrl);
    expect(await page.evaluate("window.told")).to.deep.equal([
      { origin, type: "fuelmark:ready" },
      { origin, type: "fuelmark:station-opened", station_id: id, status: "nodata" },
      {
        ...{ origin, type: "fuelmark:mark-sent" },
        ...{ station_id: id, status: "queue", outcome: "pending" },
      },
    ]);
    await page.goto(site.widgetUrl(here));
    await stationsInView(page);
    expect(await page.evaluate("window.told")).to.deep.equal([]);
  });

  itLong("has buttons to zoom at every height, and one to locate only where it may", async () => {
    const { page } = await openPage();
    await page.goto(site.pageOn("shop.test", here));
    const frame = frameOf(page);
    const button = (name: string) => frame.getByRole("button", { name, exact: true });
    await button("Where am I").waitFor();
    for (const [width, height] of [
      [300, 420],
      [360, 640],
      [740, 360],
    ]) {
      await page.evaluate(
        `(() => { const { style } = document.querySelector('iframe'); style.width = '${width}px'; style.height = '${height}px'; })()`,
      );
      for (const name of ["Where am I", "Zoom in", "Zoom out"])
        await button(name).click({ trial: true });
    }
    await page.evaluate(
      "(() => { const f = document.querySelector('iframe'); f.allow = 'fullscreen'; f.src = f.src; })()",
    );
    await button("Zoom in").waitFor();
    expect(await button("Where am I").count()).to.equal(0);
  });

  itLong("has a full-screen button where the page around it allows that alone", async () => {
    const { page } = await openPage();
    await page.goto(site.pageOn("shop.test", here));
    const frame = frameOf(page);
    await frame.getByRole("button", { name: "More" }).click();
    await frame.getByRole("button", { name: "Full screen" }).waitFor();
    await page.evaluate(
      "(() => { const f = document.querySelector('iframe'); f.removeAttribute('allow'); f.src = f.src; })()",
    );
    await frame.getByRole("button", { name: "Full screen" }).waitFor({ state: "detached" });
    await frame.getByRole("button", { name: "More" }).click();
    await frame.getByRole("link", { name: "Privacy" }).waitFor();
    expect(await frame.getByRole("button", { name: "Full screen" }).count()).to.equal(0);
  });

  it("can be used with the keyboard alone: Tab reaches everything, Escape leads back", async () => {
    const { page } = await open(here);
    const focused = () =>
      page.evaluate<string>(
        "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()",
      );
    const reached: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      await page.keyboard.press("Tab");
      reached.push(await focused());
    }
    const all = ["Search", "Filters", "95", "Nearest with fuel", "List of stations", "More"];
    expect(reached).to.include.members([...all, "Where am I", "Zoom in", "Zoom out", "Legend"]);
    await page.getByRole("button", { name: "List of stations" }).press("Enter");
    await page.locator("h2:focus", { hasText: "in view" }).waitFor();
    await page.getByRole("button", { name: `Station ${id}` }).press("Enter");
    await page.locator("h2:focus", { hasText: `Station ${id}` }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(`[data-id="${id}"]:focus`).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".panel").waitFor({ state: "detached" });
    await page.locator('[aria-label="List of stations"]:focus').waitFor();
  });

  itLong("leads to the plain list without JavaScript, which has all filters", async () => {
    const { page } = await openPage({ scripts: false });
    await page.goto(site.widgetUrl());
    await page.getByRole("link", { name: `Station ${id}` }).waitFor();
    const link = page.getByRole("link", { name: /plain list/ });
    await page.goto(new URL((await link.getAttribute("href"))!, page.url()).href);
    await page.getByText("No stations match").waitFor();
    await page.getByLabel("Status").selectOption("any");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("heading", { name: `Station ${id}` }).waitFor();
  });
});
