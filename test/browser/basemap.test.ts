import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { openPage, useBrowser } from "#test/harness/browser.ts";
import { streetsArchive } from "#test/browser/streets.ts";
import { serveStyles, styleColours, type StyleHostMood } from "#test/browser/style-host.ts";
import { stationsInView, useMap } from "#test/browser/map-site.ts";
import { until } from "#test/flow/client.ts";
import { itLong, sized } from "#test/harness/long.ts";
import { useFolder } from "#test/harness/use.ts";

type Colour = readonly [red: number, green: number, blue: number];

/** Of the Protomaps style: water, trunk roads and streets, in daylight and in the dark. */
const colours: Record<"light" | "dark", { water: Colour; road: Colour }> = {
  light: { water: [128, 222, 234], road: [255, 255, 255] },
  dark: { water: [49, 53, 63], road: [61, 61, 61] },
};
/** Between the panels, which have some of the same colours. */
const clip = { x: 400, y: 150, width: 550, height: 250 };

/** How many pixels of a part of the page have each colour; a point in fours each way, but for a page with `pixelRatio`. */
async function countPixels(
  page: Page,
  wanted: Record<string, Colour>,
): Promise<Record<string, number>> {
  const picture = (await page.screenshot({ clip })).toString("base64");
  return page.evaluate(
    async ([content, asked]) => {
      const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
      // oxlint-disable-next-line typescript/no-explicit-any -- a browser's, which the types of Node do not know
      const { createImageBitmap, OffscreenCanvas } = globalThis as any;
      const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      canvas.drawImage(bitmap, 0, 0);
      const { data }: { data: Uint8ClampedArray } = canvas.getImageData(
        ...([0, 0, bitmap.width, bitmap.height] as const),
      );
      const counts = Object.fromEntries(Object.keys(asked).map((name) => [name, 0]));
      for (let at = 0; at < data.length; at += 4)
        for (const [name, colour] of Object.entries(asked))
          if (colour.every((value, n) => Math.abs(value - data[at + n]!) < 3)) counts[name]! += 1;
      return counts;
    },
    [picture, wanted] as const,
  );
}

describe("browser: a base map with streets", function () {
  useBrowser();
  const folder = useFolder();
  const archive = (): string => join(folder.path, "town.pmtiles");
  before(() => writeFile(archive(), streetsArchive({ lon: 37, lat: 55 })));
  const site = useMap({ env: () => ({ BASEMAP: archive() }) });

  for (const theme of sized(["light"], ["light", "dark"]) as ("light" | "dark")[])
    it(`is drawn with its roads and water, ${theme}, and says whose it is`, async () => {
      const { page, complaints } = await openPage({
        dark: theme === "dark",
        pixelRatio: 1,
      });
      await page.goto(site.widgetUrl({ lat: "55", lon: "37.02", zoom: "13" }));
      await stationsInView(page);
      let drawn = await countPixels(page, colours[theme]);
      // Until both are there: each wait is a picture of the page.
      while (drawn["water"]! < 2000 || drawn["road"]! < 200)
        drawn = await countPixels(page, colours[theme]);
      await page.getByText("© OpenStreetMap contributors", { exact: true }).waitFor();
      expect(complaints).to.deep.equal([]);
    });
});

/** Of our own land and sea, in daylight. */
const land: Colour = [246, 244, 239];
const sea: Colour = [201, 220, 236];
/** What the browser itself says of a host that does not answer well, whatever a page does about it. */
const isOfNetwork = (said: string): boolean =>
  /^Failed to load resource|blocked by CORS/.test(said);

describe("browser: a style of another host", function () {
  const host = "https://styles.example";

  useBrowser();
  const site = useMap({ env: { BASEMAP: `${host}/styles/light` } });

  const place = { lat: "55", lon: "37.02", zoom: "11" };
  /** How many stations are in sight. */
  let inSight = 0;

  it("is drawn with its own credit, and asked for nothing but style, sources and tiles", async () => {
    const { page, complaints, requests } = await openPage();
    const asked = await serveStyles(page, host);
    await page.goto(site.widgetUrl(place));
    inSight = await stationsInView(page);
    await page.getByText("© Mapmakers").waitFor();
    let drawn = 0;
    while (drawn < 3000)
      drawn = (await countPixels(page, { ground: styleColours.light }))["ground"]!;
    expect(asked.filter((path) => !/^\/(styles|planet|tiles)/.test(path))).to.deep.equal([]);
    const others = requests.filter(
      (url) => ![site.web.baseUrl, host].includes(new URL(url).origin),
    );
    expect(others.filter((url) => url.startsWith("http"))).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });

  it("is the only host that the page's policy lets in, and the page about privacy names it", async () => {
    const page = await fetch(site.widgetUrl(place));
    const policy = page.headers.get("content-security-policy")!.replace(/frame-ancestors[^;]*/, "");
    expect([...new Set(policy.match(/https?:[^ ;]+/g))]).to.deep.equal([host]);
    const privacy = await fetch(`${site.web.baseUrl}/privacy`);
    expect(await privacy.text()).to.include("come from styles.example");
  });

  // What comes of an answer that is no style is the same.
  const moods: [mood: StyleHostMood, what: string][] = [
    ["silent", "does not answer"],
    ["no-tiles", "has a style and no tiles"],
    ["page", "answers with a page"],
    ["missing", "answers 404"],
  ];
  for (const [mood, what] of moods.slice(0, sized(1, moods.length)))
    it(`gives way to our own land, sea and credit when its host ${what}`, async () => {
      const { page, complaints } = await openPage();
      await serveStyles(page, host, mood);
      await page.goto(site.widgetUrl(place));
      expect(await stationsInView(page)).to.equal(inSight);
      await page.getByText("Natural Earth").waitFor();
      let drawn = 0;
      while (drawn < 1250) drawn = (await countPixels(page, { land }))["land"]!;
      expect(complaints.filter((said) => !isOfNetwork(said))).to.deep.equal([]);
    });

  it("is land until our own tiles say that there is sea", async () => {
    const { page } = await openPage();
    await serveStyles(page, host, "missing");
    let letGo = (): void => {};
    const held = new Promise<void>((go) => (letGo = go));
    await page.route(/\/basemap\/bundled\.pmtiles/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(site.widgetUrl({ lat: "0", lon: "-150", zoom: "5", gestures: "greedy" }));
    await page.getByRole("region", { name: "Map of filling stations" }).waitFor();
    // Who moves it sees the map and not its sketch.
    await page.mouse.move(600, 300);
    await page.mouse.down();
    await page.mouse.move(650, 320, { steps: 4 });
    await page.mouse.up();
    await page.locator(".sketch").waitFor({ state: "detached" });
    const drawn = await until(
      () => countPixels(page, { land, sea }),
      ({ land: onLand, sea: atSea }) => onLand! + atSea! > 3000,
    );
    expect(drawn["sea"]).to.equal(0);
    letGo();
    await until(
      () => countPixels(page, { sea }),
      ({ sea: atSea }) => atSea! > 3000,
    );
  });
});

describe("browser: the styles of OpenFreeMap", function () {
  useBrowser();
  const site = useMap({ env: { BASEMAP: "openfreemap" } });

  itLong("follow the theme, under stations that stay", async () => {
    const { page, complaints } = await openPage();
    await serveStyles(page, "https://tiles.openfreemap.org");
    await page.goto(site.widgetUrl({ lat: "55", lon: "37.02", zoom: "11" }));
    const there = await stationsInView(page);
    await page.getByText("OpenFreeMap © OpenMapTiles © OpenStreetMap contributors").waitFor();
    let drawn = 0;
    while (drawn < 3000)
      drawn = (await countPixels(page, { ground: styleColours.light }))["ground"]!;
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Dark theme" }).click();
    drawn = 0;
    while (drawn < 3000)
      drawn = (await countPixels(page, { ground: styleColours.dark }))["ground"]!;
    expect(await stationsInView(page)).to.equal(there);
    expect(complaints).to.deep.equal([]);
  });
});
