import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { placeOf } from "#test/flow/country.ts";
import { axeFaults, fitsWidth, useBrowser, openPage } from "#test/harness/browser.ts";
import { frameOf, useMap, stationsInView } from "#test/browser/map-site.ts";
import { sized, windowsOf } from "#test/harness/long.ts";

describe("browser: the map", function () {
  useBrowser();
  const site = useMap();
  before(async () => {
    await rows(site.country.db, "update stations set name = ? where id = ?", [
      `<img src=x onerror="document.title='taken'"><b>bold</b>`,
      placeOf(0).id,
    ]);
    await rows(site.country.db, "select feed_stamp(array[?])", [placeOf(0).id]);
  });

  for (const host of sized(["shop.test"], ["shop.test", "deep.in.shop.test"])) {
    it(`shows its stations in a page on ${host}`, async () => {
      const { page, complaints, close } = await openPage();
      await page.goto(site.pageOn(host, { city: "тестоград" }));
      expect(await stationsInView(frameOf(page))).to.be.greaterThan(10);
      expect(complaints).to.deep.equal([]);
      await close();
    });
  }

  const strangers = ["shop.test.evil.test", "notshop.test", "evil.test"];
  for (const host of strangers.slice(0, sized(1, strangers.length))) {
    it(`says on ${host} that it is not for that website`, async () => {
      const { page, close } = await openPage();
      await page.goto(site.pageOn(host));
      const frame = frameOf(page);
      await frame.getByRole("heading", { name: "The map is not for this website" }).waitFor();
      expect(await frame.getByRole("region").count()).to.equal(0);
      await close();
    });
  }

  it("shows names with markup as text, and asks no other host", async () => {
    const { page, requests, close } = await openPage();
    await page.goto(site.widgetUrl({ lat: "55", lon: "37", zoom: "15" }));
    await stationsInView(page);
    await page.getByRole("button", { name: "<img src=x" }).click();
    await page.getByRole("heading", { name: "<b>bold</b>" }).waitFor();
    expect(await page.title()).to.equal("Fuel map");
    const foreign = requests.filter((url) => !url.startsWith(`${site.web.baseUrl}/`));
    expect(foreign.filter((url) => !url.startsWith("data:"))).to.deep.equal([]);
    await close();
  });

  for (const [width, dark] of windowsOf(0)) {
    it(`has no accessibility fault at ${width} px, ${dark ? "dark" : "light"}`, async () => {
      const { page, close } = await openPage({ width, dark });
      await page.goto(site.widgetUrl({ lat: "55.02", lon: "37", zoom: "13" }));
      await stationsInView(page);
      const found: Record<string, string[]> = { list: await axeFaults(page) };
      await page
        .getByRole("button", { name: /^Station n/ })
        .first()
        .click();
      found["card"] = await axeFaults(page);
      await page.getByRole("button", { name: "Update status" }).click();
      await page.getByRole("button", { name: "Add details" }).click();
      found["form"] = await axeFaults(page);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Filters" }).click();
      found["filters"] = await axeFaults(page);
      expect(found).to.deep.equal({ list: [], card: [], form: [], filters: [] });
      expect(await fitsWidth(page)).to.equal(true);
      await close();
    });
  }
});
