import { expect } from "chai";
import type { Page } from "playwright-core";
import { inTransaction } from "#src/infrastructure/db.ts";
import { useMap, stationsInView } from "#test/browser/map-site.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useBrowser, openPage, type PageOptions } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

describe("browser: the map on a phone", function () {
  const place = placeOf(7);
  const phone = { phone: true, width: 360, height: 740 };

  useBrowser();
  const site = useMap({ stations: 60, roles: ["marks"] });
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
    const { page, close } = await open();
    await openCard(page);
    expect(await isInReach(page, ".actions .primary")).to.equal(true);
    await page.getByRole("button", { name: "Update status" }).click();
    await page.getByRole("button", { name: "No fuel", exact: true }).waitFor();
    expect(await isInReach(page, ".choice")).to.equal(true);
    expect(await isInReach(page, ".actions .button")).to.equal(true);
    await close();
  });

  itLong("closes sheets one by one by the browser's way back, and stays on the page", async () => {
    const { page, close } = await open();
    await openCard(page);
    await page.goBack();
    await page.getByRole("heading", { name: "in view" }).waitFor();
    await page.goBack();
    await page.locator(".panel").waitFor({ state: "detached" });
    await page.locator(".controls.lower").waitFor();
    await openCard(page);
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator(".panel").waitFor({ state: "detached" });
    await page.waitForFunction("history.state === null");
    await close();
  });

  itLong(
    "closes a sheet that is swiped down, and leaves it where the finger has second thoughts",
    async () => {
      const { page, close } = await open();
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
      await close();
    },
  );

  itLong("shows the chosen station beside its card on a phone that lies on its side", async () => {
    const { page, close } = await open({ ...phone, width: 740, height: 360 });
    await openCard(page);
    expect(await page.locator(".legend").isVisible()).to.equal(false);
    await close();
  });

  itLong(
    "keeps the credit, the legend and the buttons apart in letters twice as large",
    async () => {
      const { page, close } = await open();
      await page.evaluate("document.documentElement.style.fontSize = '32px'");
      await page.locator(".legend summary").click();
      const boxes = await Promise.all(
        [".attribution", ".legend", ".controls.lower"].map((one) =>
          page.locator(one).boundingBox(),
        ),
      );
      const [credit, legend, buttons] = boxes.map((box) => box!);
      expect(legend!.y + legend!.height).to.be.at.most(credit!.y);
      expect(buttons!.y + buttons!.height).to.be.at.most(credit!.y);
      expect(legend!.x + legend!.width).to.be.at.most(buttons!.x);
      const letters = await page.evaluate<string>("getComputedStyle(document.body).fontSize");
      expect(letters).to.equal("32px");
      await close();
    },
  );

  itLong("stays clear of a notch and of the bar for swipes", async () => {
    const { page, close } = await open({ ...phone, width: 740, height: 360 });
    const device = await page.context().newCDPSession(page);
    const insets = { top: 0, left: 44, right: 44, bottom: 21 };
    await device.send("Emulation.setSafeAreaInsetsOverride", { insets });
    await page.waitForFunction(
      "document.querySelector('.top-bar').getBoundingClientRect().left >= 44",
    );
    const lower = (await page.locator(".controls.lower").boundingBox())!;
    expect(lower.x + lower.width).to.be.at.most(740 - 44);
    expect(lower.y + lower.height).to.be.at.most(360 - 21);
    await close();
  });

  itLong("asks for the stations while the map's own code is under way, and once", async () => {
    const { page, requests, close } = await openPage(phone);
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
    await close();
  });

  it("lists the stations and says so when the map's code does not come", async () => {
    const { page, close } = await openPage(phone);
    await page.route(/\/assets\/map-[^/]*\.js$/, (route) => route.abort());
    await page.goto(site.widgetUrl({ lat: String(place.lat), lon: "37" }));
    await page.getByText("The map could not be loaded").waitFor();
    await page.getByRole("button", { name: `Station ${place.id}` }).waitFor();
    await close();
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
    const { page, close } = await openPage(phone);
    for (const lon of ["179.95", "-179.95"]) {
      await page.goto(site.widgetUrl({ lat: "66", lon, zoom: "9" }));
      await page.locator(".controls.lower").waitFor();
      await stationsInView(page);
      await page.getByRole("button", { name: "Before" }).waitFor();
      await page.getByRole("button", { name: "Beyond" }).waitFor();
    }
    await close();
  });
});
