import { expect } from "chai";
import type { Page } from "playwright-core";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { tell, withoutWebgl } from "#test/browser/map-site.ts";
import { mapAt, useOwnMap } from "#test/browser/offline-drive.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { isClean, openPage, press, useBrowser, type PageOptions } from "#test/harness/browser.ts";
import { itLong, sized } from "#test/harness/long.ts";

// Stations 3 and 9 have 95, 9 for less and told later; 5 has it since thirteen hours. Decisions 15.43.
describe("browser: the answer first", function () {
  const sizes: [string, PageOptions][] = [
    ["a phone", { phone: true, width: 390, height: 780 }],
    ["a desktop", { width: 1280, height: 800 }],
  ];
  const [, phone] = sizes[0]!;
  const at = (n: number) => ({ latitude: placeOf(n).lat, longitude: placeOf(n).lon, accuracy: 10 });

  useBrowser();
  const site = useOwnMap();
  before(async () => {
    const has = (price: number) => ({ status: "yes", fuels: ["95"], prices: { 95: price } });
    const observed_at = new Date(Date.now() - 13 * hourMs).toISOString();
    await tell(site, [
      [3, has(64.5)],
      [5, { ...has(50), observed_at }],
      [9, has(61.5)],
    ]);
  });

  const names = (page: Page) =>
    page.locator(".panel .station-row .lines:first-of-type > span:first-child").allTextContents();
  /** Questions for all that lies in a large part of the country. */
  const wide = (requests: readonly string[]) =>
    requests.filter((url) => {
      const [, west, , east] = (/stations\?bbox=([^&]+)/.exec(url)?.[1] ?? "")
        .split(",")
        .map(Number);
      return east! - west! > 20;
    });

  // A phone's walk has more in its way.
  for (const [name, options] of sizes.slice(0, sized(1, sizes.length))) {
    it(`asks a stranger on ${name} for the fuel and the city, and shows the nearest with it`, async () => {
      const { page, requests, complaints } = await openPage(options);
      await page.goto(`${site.web.baseUrl}/`);
      await page.getByText("Which fuel?").first().waitFor();
      await page.locator("#early").waitFor({ state: "detached" });
      await page.getByRole("region", { name: "Map of filling stations" }).waitFor();
      // Nobody is taken to be in the capital.
      expect(requests.filter((url) => url.includes("/stations?"))).to.deep.equal([]);
      await isClean(page);
      await page.locator(".panel").getByRole("button", { name: "95", exact: true }).click();
      await press(page, "Testograd");
      await page.getByText("Within 5 km of the middle of Testograd").waitFor();
      expect(await names(page)).to.deep.equal(["Station n1003", "Station n1009", "Station n1005"]);
      // The map left the country for the city: on a slow network its stations would have delayed the answer.
      expect(wide(requests)).to.deep.equal([]);
      await page.getByRole("heading", { name: "Told more than 12 hours ago" }).waitFor();
      expect(await page.locator(".aged").innerText()).to.include("13 h ago");
      await isClean(page);
      await page.getByRole("radio", { name: "Cheap" }).check({ force: true });
      expect((await names(page)).slice(0, 2)).to.deep.equal(["Station n1009", "Station n1003"]);
      // The next time the server knows it before any script.
      const address = new URL(page.url());
      expect(address.searchParams.get("city")).to.equal("Тестоград");
      await page.route(/\/assets\/.*\.m?js$/, (route) => route.abort());
      await page.goto(`${site.web.baseUrl}/`);
      await page.getByRole("heading", { name: "Nearest with 95: Тестоград" }).waitFor();
      expect(await page.locator("#early .station-row").count()).to.equal(3);
      expect(complaints.filter((said) => !said.includes("ERR_FAILED"))).to.deep.equal([]);
    });

    it(`leaves what is pressed on ${name} where it is when the script comes`, async () => {
      const { page } = await openPage(options);
      let letGo = (): void => {};
      const held = new Promise<void>((go) => (letGo = go));
      await page.route(/\/assets\/.*\.m?js$/, async (route) => {
        await held;
        await route.continue();
      });
      await page.goto(`${site.web.baseUrl}/`, { waitUntil: "commit" });
      await page.locator("#early .places").waitFor();
      await page.waitForFunction(
        "getComputedStyle(document.querySelector('#early')).position === 'fixed'",
      );
      // All in one moment: what comes with the panel's last line moves them together.
      const places = async (role: "link" | "button") => {
        const called = ["95", "Near me", "Testograd"];
        const [first, ...others] = await Promise.all(
          called.map((name) => page.getByRole(role, { name, exact: true }).elementHandle()),
        );
        return first!.evaluate(
          (one, more) =>
            [one, ...more].flatMap((each) => {
              const { x, y, width, height } = each!.getBoundingClientRect();
              return [x, y, width, height];
            }),
          others,
        );
      };
      const before = await places("link");
      letGo();
      await page.locator("#early").waitFor({ state: "detached" });
      await page.locator(".panel .places").waitFor();
      const moved = (await places("button")).map((px, n) => px - before[n]!);
      expect(moved.filter((px) => Math.abs(px) > 1)).to.deep.equal([]);
    });

    it(`needs no map on ${name}: the button and the nearest are there before it and without it`, async () => {
      const { page } = await openPage({ ...options, position: at(8) });
      await page.addInitScript(withoutWebgl);
      await page.goto(`${site.web.baseUrl}/?fuel=95`);
      await page.getByText("Within 5 km of you").waitFor();
      expect((await names(page))[0]).to.equal("Station n1009");
      await page.getByText("This browser cannot draw the map").waitFor({ state: "detached" });
      await isClean(page);
      await press(page, "Back");
      await page.getByRole("heading", { name: /have 95/ }).waitFor();
      await press(page, "Nearest with 95");
      await page.getByText("Within 5 km of you").waitFor();
    });
  }

  it("is as high as what it asks on a wide window before the script, and on a phone without any", async () => {
    const besides: PageOptions[] = [
      { width: 1080, height: 800 },
      { ...phone, scripts: false },
    ];
    for (const options of besides) {
      const { page } = await openPage(options);
      await page.route(/\/assets\/.*\.m?js$/, (route) => route.abort());
      await page.goto(`${site.web.baseUrl}/`);
      const card = page.locator("#early.answer");
      await card.locator(".places").waitFor();
      const heights = await card.evaluate((one) => {
        const { height } = one.getBoundingClientRect();
        one.style.minHeight = "0";
        return [height, one.getBoundingClientRect().height];
      });
      expect(heights[0]).to.equal(heights[1]);
    }
  });

  // A place that is chosen before the service has said how to begin, and one that is chosen when all have failed.
  for (const [fails, when] of [
    ["WebGL", "early"],
    ["WebGL", "late"],
    ["code", "early"],
  ] as const)
    it(`lists without the map's ${fails} what is about a place chosen ${when}`, async () => {
      const { page } = await openPage({ ...phone, position: when === "early" ? at(2) : null });
      let tellConfig = (): void => {};
      const held = new Promise<void>((go) => (tellConfig = go));
      let fail = (): void => {};
      const failing = new Promise<void>((go) => (fail = go));
      if (fails === "WebGL") await page.addInitScript(withoutWebgl);
      await page.route(/\/assets\/map-[^/]*\.js$/, async (route) => {
        await failing;
        await route.abort();
      });
      // The country's middle is elsewhere.
      await page.route(/\/widget\/config/, async (route) => {
        const told = await (await route.fetch()).json();
        await held;
        await route.fulfill({ json: { ...told, center: { lat: 50, lon: 30, zoom: 5 } } });
      });
      if (when === "late") tellConfig();
      await page.goto(`${site.web.baseUrl}/?fuel=95${when === "early" ? "#near" : ""}`);
      if (when === "late") await page.locator("#early").waitFor({ state: "detached" });
      if (when === "late") await press(page, "Testograd");
      await page.getByText(/^Within 5 km of /).waitFor();
      tellConfig();
      if (fails === "code") await page.locator(".sketch .pin").first().waitFor();
      fail();
      await press(page, "Back");
      await page.locator(`.panel [data-id="${placeOf(3).id}"]`).waitFor();
    });

  it("keeps a card open where there is no map when the position comes late", async () => {
    const { page } = await openPage({ ...phone, position: at(8) });
    await page.addInitScript(withoutWebgl);
    await page.addInitScript(`{
      const { geolocation } = navigator;
      const find = geolocation.getCurrentPosition.bind(geolocation);
      geolocation.getCurrentPosition = (...all) => addEventListener("come", () => find(...all));
    }`);
    await page.goto(`${site.web.baseUrl}/?fuel=95`);
    await press(page, "Testograd");
    await page.getByText("Within 5 km of the middle of Testograd").waitFor();
    await page.goto(`${site.web.baseUrl}/?fuel=95`);
    await page.locator("#early").waitFor({ state: "detached" });
    const [station] = await names(page);
    await page.getByRole("button", { name: station! }).first().click();
    const card = page.getByRole("heading", { name: station! });
    await card.waitFor();
    const kept = () => page.evaluate<string>("JSON.stringify(localStorage)");
    const before = await kept();
    await page.evaluate('dispatchEvent(new Event("come"))');
    await until(kept, (now) => now !== before);
    expect(await card.isVisible()).to.equal(true);
    await press(page, "Back");
    await page.getByText("Within 5 km of you").waitFor();
  });

  itLong("shows the pins of a chosen city until the map has drawn its own", async () => {
    const { page } = await openPage(phone);
    let letGo = (): void => {};
    const held = new Promise<void>((go) => (letGo = go));
    // What the map draws comes late, its code does not.
    await page.route(/\/basemap\/(?!land)/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${site.web.baseUrl}/?fuel=95`);
    await page.locator("#early").waitFor({ state: "detached" });
    await press(page, "Testograd");
    await page.getByText("Within 5 km of the middle of Testograd").waitFor();
    await page.getByRole("region", { name: "Map of filling stations" }).waitFor();
    await page.locator(".sketch .pin").first().waitFor();
    letGo();
    await page.locator(".sketch").waitFor({ state: "detached" });
  });

  itLong("hears a press before the script, and answers before the map's code", async () => {
    const { page } = await openPage({ ...phone, position: at(2) });
    let letGo = (): void => {};
    const held = new Promise<void>((go) => (letGo = go));
    await page.route(/\/assets\/.*\.m?js$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.route(/\/assets\/map-[^/]*\.js$/, () => {});
    await page.goto(`${site.web.baseUrl}/?fuel=95`, { waitUntil: "commit" });
    await page.getByRole("link", { name: "Near me" }).click();
    letGo();
    await page.getByText("Within 5 km of you").waitFor();
    expect((await names(page))[0]).to.equal("Station n1003");
  });

  itLong(
    "asks for no country beside the answer where who pressed is found before the map",
    async () => {
      const { page, requests } = await openPage({ ...phone, position: at(2) });
      let letGo = (): void => {};
      const held = new Promise<void>((go) => (letGo = go));
      await page.route(/\/widget\/config/, async (route) => {
        await held;
        await route.continue();
      });
      await page.goto(`${site.web.baseUrl}/?fuel=95#near`);
      await page.getByText("Within 5 km of you").waitFor();
      letGo();
      const ofMap = () =>
        requests.filter((url) => /stations\?bbox/.test(url) && !url.includes("sort=distance"));
      await page.getByRole("region", { name: "Map of filling stations" }).waitFor();
      await until(
        () => Promise.resolve(ofMap()),
        (asked) => asked.length > 0,
      );
      expect(wide(requests)).to.deep.equal([]);
    },
  );

  itLong(
    "keeps the list of the nearest true, also without a network, and says of when it is",
    async () => {
      const { page } = await openPage({ ...phone, position: at(3) });
      await page.clock.install();
      await page.goto(`${site.web.baseUrl}/?fuel=95`);
      await page.getByText("Within 5 km of you").waitFor();
      await page.getByRole("region", { name: "Map of filling stations" }).waitFor();
      await until(
        () => page.evaluate<boolean>("document.querySelector('.controls.lower') !== null"),
        (there) => there,
      );
      const sheet = page.locator(".panel");
      const { height } = (await sheet.boundingBox())!;
      let letGo = (): void => {};
      const held = new Promise<void>((go) => (letGo = go));
      await page.route(/sort=distance/, async (route) => {
        await held;
        await route.continue();
      });
      await sheet.getByRole("button", { name: "92", exact: true }).click();
      await page.getByText("Looking for the nearest …").waitFor();
      expect((await sheet.boundingBox())!.height).to.equal(height);
      letGo();
      await sheet.getByRole("button", { name: "95", exact: true }).click();
      await page.getByText("Within 5 km of you").waitFor();
      // Somebody comes back to it, and another driver has told of one more.
      await tell(site, [[4, { status: "yes", fuels: ["95"] }]]);
      await page.clock.fastForward(6 * minuteMs);
      await page.locator(`.panel [data-id="${placeOf(4).id}"]`).waitFor();
      await page.locator(".panel").getByRole("button", { name: "Close" }).click();
      await page.locator(".notice", { hasText: "have 95" }).waitFor();
      await page.context().setOffline(true);
      await press(page, "Nearest with 95");
      await page.getByText(/^As of \d\d:\d\d/).waitFor();
      expect((await names(page))[0]).to.equal("Station n1003");
      expect(await page.getByRole("button", { name: "Tell me when it is there" }).count()).to.equal(
        0,
      );
      // What was told a day ago holds no longer, on the list as on the map.
      await page.clock.fastForward(25 * hourMs);
      await page.locator(".panel .station-row .nodata").first().waitFor();
      expect(await page.locator(".panel .station-row .yes").count()).to.equal(0);
    },
  );

  itLong("lets a stranger onto the map of a country without cities", async () => {
    const { page, requests } = await openPage(phone);
    const none = { cities: [], count: 0, total: 0 };
    await page.route(/\/cities\?/, (route) => route.fulfill({ json: none }));
    await page.goto(`${site.web.baseUrl}/`);
    await page.locator("#early").waitFor({ state: "detached" });
    await page.locator(".controls.lower").waitFor();
    // Nothing is asked for yet, and the network comes back all the same.
    await page.context().setOffline(true);
    await page.getByText("You are offline.").waitFor();
    await page.context().setOffline(false);
    await page.getByText("You are offline.").waitFor({ state: "detached" });
    await isClean(page);
    await press(page, "Around the middle of the map");
    await page.getByText("No station with fuel is known").waitFor();
    // The middle of what the sheet leaves free, where the station of the address is.
    await page.goto(`${mapAt(site, 3)}&fuel=95`);
    await page.locator(".controls.lower").waitFor();
    await press(page, "Look somewhere else");
    requests.length = 0;
    await press(page, "Around the middle of the map");
    await page.getByText("Within 5 km of the middle of the map").waitFor();
    const asked = new URL(requests.find((url) => url.includes("sort=distance"))!);
    const [south, , north] = asked.searchParams.get("bbox")!.split(",").map(Number);
    expect((south! + north!) / 2).to.be.closeTo(placeOf(3).lat, 0.0025);
    await press(page, "Along my way");
    await page.getByRole("button", { name: "Show the place on the map" }).waitFor();
    expect(await page.locator(".panel select").count()).to.equal(0);
  });

  itLong("leads to the next station with the fuel, and tells what a mark counts", async () => {
    const { page } = await openPage({ ...phone, position: at(0) });
    await page.goto(`${site.web.baseUrl}/s/${placeOf(8).id}?fuel=95`);
    await page.getByRole("heading", { name: "Station n1008" }).waitFor();
    const next = page.getByRole("button", {
      name: /^Nearest with 95: Station n1009, \d+ m from there$/,
    });
    await next.waitFor();
    await isClean(page);
    // From afar the way comes first.
    expect(await page.locator(".actions .primary").innerText()).to.equal("Route");
    await press(page, "Update status");
    await page.getByText(/^You are \S+ k?m away: the mark counts when another driver/).waitFor();
    await press(page, "Add details");
    await page.getByLabel("Price of 95").fill("61.5");
    // One step back for each Escape, and nothing that was typed is lost.
    await page.keyboard.press("Escape");
    await press(page, "Add details");
    expect(await page.getByLabel("Price of 95").inputValue()).to.equal("61.5");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await press(page, "Update status");
    await press(page, "Cancel");
    await next.click();
    await page.getByRole("heading", { name: "Station n1009" }).waitFor();
  });

  itLong("offers during the cooldown what counts, and the mark first at the station", async () => {
    const { page } = await openPage({ ...phone, position: at(12) });
    await page.clock.install();
    await page.goto(`${site.web.baseUrl}/s/${placeOf(12).id}`);
    await page.getByRole("heading", { name: "Station n1012" }).waitFor();
    await press(page, "Update status");
    await press(page, "Fuel");
    await page.clock.runFor(6000);
    await page.locator(".result.good").waitFor();
    expect(await page.getByRole("button", { name: "Update status" }).count()).to.equal(0);
    expect(await page.getByRole("button", { name: "It has run out just now" }).count()).to.equal(0);
    await page.clock.runFor(150_000);
    await page.getByRole("button", { name: "It has run out just now" }).waitFor();
  });

  itLong("has one menu for language, theme and pages, and keeps the language", async () => {
    const { page } = await openPage({ ...phone, dark: true });
    await page.goto(`${site.web.baseUrl}/?fuel=95`);
    await page.locator("#early").waitFor({ state: "detached" });
    await press(page, "More");
    const there = await page.locator(".menu").innerText();
    expect(there.split("\n").map((line) => line.trim())).to.include.members([
      ...["Русский", "Light theme", "Where fuel is missing", "Service status", "Privacy"],
    ]);
    await isClean(page);
    await page.getByRole("link", { name: "Русский" }).click();
    await page.getByRole("heading", { name: "Ближайшие с 95" }).waitFor();
    // An address' fuel is no choice of the driver's.
    await page.goto(`${site.web.baseUrl}/`);
    await page.getByRole("heading", { name: "Ближайшие с топливом" }).waitFor();
  });

  itLong("is told of one station alone from its card", async () => {
    const { page } = await openPage({ ...phone, installs: true, windows: true });
    const origin = site.web.baseUrl;
    await page.context().grantPermissions(["notifications"], { origin });
    await page.addInitScript(
      "PushManager.prototype.subscribe = async () => { throw new Error('blocked'); };",
    );
    await page.goto(`${origin}/s/${placeOf(8).id}?fuel=98`);
    await press(page, "Tell me when it is there");
    await page.getByRole("radio", { name: "this station" }).waitFor();
    await press(page, "Tell me");
    // The browser's own no has a reason.
    await page.getByText("This browser takes no notifications now").waitFor();
    expect(await rows(site.country.db, "select 1 from fuel_alerts")).to.have.length(0);
  });
});
