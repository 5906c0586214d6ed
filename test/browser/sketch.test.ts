import { expect } from "chai";
import type { Page } from "playwright-core";
import { useMap, stationsInView } from "#test/browser/map-site.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useBrowser, openPage, type PageOptions } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

/** decisions 15.42 */
describe("browser: the map before its code has come", function () {
  const stations = 60;
  const place = placeOf(30);
  const phone = { phone: true, width: 360, height: 740 };

  useBrowser();
  const site = useMap({ stations, roles: ["marks"] });
  before(async () => {
    const api = createClient(site.web.baseUrl, site.country.secret);
    await api.mark(place, "driver", { status: "low" });
  });

  /** The map around the station whose fuel is low; its code comes when `release` is called. */
  const open = async (zoom: number, options: PageOptions = phone) => {
    const opened = await openPage(options);
    let release = (): void => {};
    const held = new Promise<void>((done) => (release = done));
    await opened.page.route(/\/assets\/map-[^/]*\.js$/, async (route) => {
      await held;
      await route.continue();
    });
    const at = { lat: String(place.lat), lon: String(place.lon), zoom: String(zoom) };
    await opened.page.goto(site.widgetUrl({ ...at, gestures: "greedy" }));
    return { ...opened, release };
  };
  const mapIsDrawn = async (page: Page): Promise<void> => {
    await page.getByRole("region", { name: "Map of filling stations" }).waitFor();
    await page.locator(".sketch").waitFor({ state: "detached" });
  };
  /** How many stations the list has in view; closes the list again. */
  const countOf = async (page: Page): Promise<number> => {
    await page.getByRole("button", { name: "List of stations" }).click();
    const title = page.getByRole("heading", { name: /\d+ stations? in view/ });
    const text = (await title.textContent()) ?? "";
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator(".panel").waitFor({ state: "detached" });
    return Number.parseInt(text, 10);
  };

  it("sketches every station in view, and opens the card of the one that is tapped", async () => {
    const { page, complaints, release, close } = await open(14.5);
    await page.locator(".sketch .pin").first().waitFor();
    await page.locator("#early").waitFor({ state: "detached" });
    const { width, height } = page.viewportSize()!;
    const pinsWithin = async (): Promise<number> => {
      const pins = await page.evaluate<[number, number][]>(
        `[...document.querySelectorAll(".sketch .pin")].map((pin) =>
          /translate\\((\\S+) (\\S+)\\)/.exec(pin.getAttribute("transform")).slice(1).map(Number))`,
      );
      return pins.filter(([x, y]) => x >= 0 && x <= width && y >= 0 && y <= height).length;
    };
    const [within] = await until(
      async () => [await pinsWithin(), await countOf(page)] as const,
      ([pins, listed]) => pins === listed,
    );
    expect(within).to.be.within(3, stations - 1);
    await page.locator(".sketch .pin:has(path[fill='var(--low)'])").click();
    await page.getByRole("heading", { name: `Station ${place.id}` }).waitFor();
    await page.locator(".status-now.low").waitFor();
    release();
    await mapIsDrawn(page);
    // The card is as it was.
    await page.getByRole("heading", { name: `Station ${place.id}` }).waitFor();
    expect(complaints).to.deep.equal([]);
    await close();
  });

  itLong(
    "sketches stations that lie close as one, which a tap takes apart; the map opens there",
    async () => {
      const { page, release, close } = await open(8);
      await page.locator(".sketch .ring").first().waitFor();
      // The view's rectangles may come one after the other.
      await until(
        async () => {
          const counts = await page.locator(".sketch .count").allTextContents();
          const single = await page.locator(".sketch .pin").count();
          return counts.reduce((sum, count) => sum + Number(count), single);
        },
        (all) => all === stations,
      );
      let before = await countOf(page);
      while ((await page.locator(".sketch .ring").count()) > 0) {
        await page.locator(".sketch .ring").first().click();
        const now = await countOf(page);
        expect(now).to.be.at.most(before);
        before = now;
      }
      expect(before).to.be.below(stations);
      release();
      await mapIsDrawn(page);
      expect(await stationsInView(page)).to.equal(before);
      await close();
    },
  );

  itLong(
    "shows the land, moves nothing about, and says nothing that the list does not say",
    async () => {
      const { page, requests, release, close } = await open(11);
      await page.locator(".sketch .land path").first().waitFor({ state: "attached" });
      expect(requests.some((url) => url.includes("/basemap/land/9/"))).to.equal(true);
      expect(await page.locator(".sketch").getAttribute("aria-hidden")).to.equal("true");
      release();
      await mapIsDrawn(page);
      // The line at the foot has always grown with its buttons.
      const shifted = await page.evaluate<string[]>(`new Promise((done) => {
      new PerformanceObserver((list) => done(list.getEntries()
        .flatMap(({ sources }) => sources.map(({ node }) => node))
        .filter((node) => node?.closest?.(".foot") === null).map((node) => node.outerHTML)))
        .observe({ type: "layout-shift", buffered: true });
      setTimeout(() => done([]), 1000);
    })`);
      expect(shifted).to.deep.equal([]);
      await close();
    },
  );

  it("goes where the map's code does not come, and leaves the list", async () => {
    const { page, close } = await openPage(phone);
    let release = (): void => {};
    const held = new Promise<void>((done) => (release = done));
    await page.route(/\/assets\/map-[^/]*\.js$/, async (route) => {
      await held;
      await route.abort();
    });
    await page.goto(site.widgetUrl({ lat: String(place.lat), lon: String(place.lon), zoom: "14" }));
    await page.locator(".sketch .pin").first().waitFor();
    release();
    await page.getByText("The map could not be loaded").waitFor();
    await page.locator(".sketch").waitFor({ state: "detached" });
    await close();
  });
});
