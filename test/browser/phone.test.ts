import { expect } from "chai";
import type { Page } from "playwright-core";
import { inTransaction } from "#src/infrastructure/db.ts";
import { useMap, stationsInView } from "#test/browser/map-site.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { openPage, useBrowser, type PageOptions } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

describe("browser: the map on a phone", function () {
  const stations = 60;
  const place = placeOf(7);
  const phone = { phone: true, width: 360, height: 740 };

  useBrowser();
  const site = useMap({ stations, roles: ["marks"] });
  before(async () => {
    const api = createClient(site.web.baseUrl, site.country.secret);
    await api.mark(place, "driver", {
      status: "low",
      fuels: ["92", "95", "98"],
      fuels_no: ["100", "ДТ"],
      prices: { 92: 61.1, 95: 66.2, 98: 83.2 },
      queue: "5-10",
      limit_l: 40,
      no_cash: true,
    });
    // A mark from nowhere waits for another driver.
    await api.post(`/stations/${place.id}/report`, { status: "no", user_ref: "elsewhere" });
  });

  /** The map around the station of which drivers have said everything. */
  const open = async (options: PageOptions = phone) => {
    const opened = await openPage(options);
    const { lat, lon } = place;
    await opened.page.goto(
      site.widgetUrl({ lat: String(lat), lon: String(lon), zoom: "17", gestures: "greedy" }),
    );
    await opened.page.locator(".controls.lower").waitFor();
    return opened;
  };
  const openCard = async (page: Page): Promise<void> => {
    await stationsInView(page);
    await page.getByRole("button", { name: `Station ${place.id}` }).click();
    await page.getByRole("heading", { name: `Station ${place.id}` }).waitFor();
  };
  /** What a finger at the middle of it would touch, is it or lies in it. */
  const isInReach = (page: Page, selector: string) =>
    page.evaluate<boolean>(`[...document.querySelectorAll("${selector}")].every((one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    })`);

  it("keeps the way to a mark in reach of the thumb, however much is known of a station", async () => {
    const { page } = await open();
    await openCard(page);
    // Of the status: a driver from afar may have said the same since, and it is no younger.
    expect(await page.locator(".status-now .age").innerText()).to.match(/^1 driver, updated /);
    expect(await isInReach(page, ".actions .primary")).to.equal(true);
    await page.getByRole("button", { name: "Update status" }).click();
    await page.getByRole("button", { name: "No fuel", exact: true }).waitFor();
    expect(await isInReach(page, ".choice")).to.equal(true);
    expect(await isInReach(page, ".actions .button")).to.equal(true);
  });

  itLong("closes sheets one by one by the browser's way back, and stays on the page", async () => {
    const { page } = await open();
    await openCard(page);
    await page.getByRole("button", { name: "Update status" }).click();
    await page.getByRole("button", { name: "No fuel", exact: true }).waitFor();
    // The form first: its card stays.
    await page.goBack();
    await page.getByRole("button", { name: "Update status" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "in view" }).waitFor();
    await page.goBack();
    await page.locator(".panel").waitFor({ state: "detached" });
    await page.locator(".controls.lower").waitFor();
    await openCard(page);
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator(".panel").waitFor({ state: "detached" });
    await page.waitForFunction("history.state === null");
  });

  itLong("closes a sheet that is swiped down, but not by a short swipe", async () => {
    const { page } = await open();
    await openCard(page);
    const fingers = await page.context().newCDPSession(page);
    const swipe = async (byPx: number): Promise<void> => {
      const { x, y } = (await page.locator(".panel-head").boundingBox())!;
      const touch = (type: "touchStart" | "touchMove" | "touchEnd", down = 0) =>
        fingers.send("Input.dispatchTouchEvent", {
          type,
          touchPoints: type === "touchEnd" ? [] : [{ x: x + 100, y: y + 15 + down }],
        });
      await touch("touchStart");
      for (let step = 1; step <= 5; step += 1) await touch("touchMove", (byPx * step) / 5);
      await touch("touchEnd");
    };
    await swipe(30);
    await page.waitForFunction("document.querySelector('.panel').style.transform === ''");
    await swipe(150);
    await page.locator(".panel").waitFor({ state: "detached" });
  });

  itLong("shows the chosen station beside its card on a phone that lies on its side", async () => {
    const { page } = await open({ ...phone, width: 740, height: 360 });
    await openCard(page);
    expect(await page.locator(".legend").isVisible()).to.equal(false);
    const credit = page.locator(".attribution");
    await credit.evaluate((one) => (one.textContent = "Stations: a ministry ".repeat(4)));
    const { x, width } = (await page.locator(".maplibregl-ctrl-scale").boundingBox())!;
    expect(x + width).to.be.at.most((await credit.boundingBox())!.x);
  });

  itLong("keeps credit, legend and buttons apart in letters twice as large", async () => {
    const { page } = await open();
    await page.evaluate("document.documentElement.style.fontSize = '32px'");
    await page.locator(".legend summary").click();
    const boxes = await Promise.all(
      [".attribution", ".legend", ".controls.lower"].map((one) => page.locator(one).boundingBox()),
    );
    const [credit, legend, buttons] = boxes.map((box) => box!);
    expect(legend!.y + legend!.height).to.be.at.most(credit!.y);
    expect(buttons!.y + buttons!.height).to.be.at.most(credit!.y);
    expect(legend!.x + legend!.width).to.be.at.most(buttons!.x);
    const letters = await page.evaluate<string>("getComputedStyle(document.body).fontSize");
    expect(letters).to.equal("32px");
  });

  itLong("stays clear of a notch and of the bar for swipes", async () => {
    const { page } = await open({ ...phone, width: 740, height: 360 });
    const device = await page.context().newCDPSession(page);
    const insets = { top: 0, left: 44, right: 44, bottom: 21 };
    await device.send("Emulation.setSafeAreaInsetsOverride", { insets });
    await page.waitForFunction(
      "document.querySelector('.top-bar').getBoundingClientRect().left >= 44",
    );
    const lower = (await page.locator(".controls.lower").boundingBox())!;
    expect(lower.x + lower.width).to.be.at.most(740 - 44);
    expect(lower.y + lower.height).to.be.at.most(360 - 21);
  });

  itLong("asks for the stations while the map's own code is under way, and once", async () => {
    const { page, requests } = await openPage(phone);
    const asked = (): string[] => requests.filter((url) => url.includes("/stations?bbox="));
    await page.route(/\/assets\/map-[^/]*\.js$/, async (route) => {
      await until(
        async () => asked(),
        (all) => all.length > 0,
      );
      await route.continue();
    });
    await page.goto(site.widgetUrl({ lat: String(place.lat), lon: "37", zoom: "13" }));
    await stationsInView(page);
    expect(asked()).to.have.length(1);
  });

  itLong("shows the stations on both sides of 180°", async () => {
    await inTransaction(site.country.db, async (tx) => {
      await tx.raw(
        `insert into stations (id, source, lat, lon, brand, name, addr)
         values ('n1', 'test', 66, 179.9, '', 'Before', ''), ('n2', 'test', 66, -179.9, '', 'Beyond', '')`,
      );
      await tx.raw("select feed_stamp(array['n1', 'n2'])");
    });
    const api = createClient(site.web.baseUrl, site.country.secret);
    await until(
      () => api.get("/stations/n2"),
      ({ status }) => status === 200,
    );
    const { page } = await openPage(phone);
    for (const lon of ["179.95", "-179.95"]) {
      await page.goto(site.widgetUrl({ lat: "66", lon, zoom: "9" }));
      await page.locator(".controls.lower").waitFor();
      await stationsInView(page);
      await page.getByRole("button", { name: "Before" }).waitFor();
      await page.getByRole("button", { name: "Beyond" }).waitFor();
    }
  });

  describe("before its code has come (decisions 15.42)", () => {
    /** The map around the station whose fuel is low; its code comes when `release` is called. */
    const openHeld = async (zoom: number, options: PageOptions = phone) => {
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
      const { page, complaints, release } = await openHeld(14.5);
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
    });

    itLong("sketches close stations as one, which a tap takes apart", async () => {
      const { page, release } = await openHeld(8);
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
    });

    itLong("shows the land, moves nothing about, and is silent", async () => {
      const { page, requests, release } = await openHeld(11);
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
    });

    it("goes where the map's code does not come, and leaves the list", async () => {
      const { page } = await openPage(phone);
      let release = (): void => {};
      const held = new Promise<void>((done) => (release = done));
      await page.route(/\/assets\/map-[^/]*\.js$/, async (route) => {
        await held;
        await route.abort();
      });
      await page.goto(
        site.widgetUrl({ lat: String(place.lat), lon: String(place.lon), zoom: "14" }),
      );
      await page.locator(".sketch .pin").first().waitFor();
      release();
      await page.getByText("The map could not be loaded").waitFor();
      await page.getByRole("button", { name: `Station ${place.id}` }).waitFor();
      await page.locator(".sketch").waitFor({ state: "detached" });
    });
  });
});
