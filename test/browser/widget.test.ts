import { expect } from "chai";
import type { FrameLocator, Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { deviceReporter } from "#src/marks/marks.ts";
import { addKey } from "#test/api/edge.ts";
import { frameOf, sendNow, stationsInView, useMap } from "#test/browser/map-site.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Place, placeOf } from "#test/flow/country.ts";
import { openPage, useBrowser, type OpenedPage, type PageOptions } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

type Map = Page | FrameLocator;

describe("browser: drivers on the map", function () {
  let api: Client;
  let station = 0;

  useBrowser();
  const key = { domains: ["shop.test", "shop2.test"] };
  const site = useMap({ stations: 200, roles: ["marks"], key });
  before(() => {
    api = createClient(site.web.baseUrl, site.country.secret);
  });

  /** A station that no other test marks. */
  const nextPlace = (): Place => placeOf((station += 10));
  const around = ({ lat, lon }: Place): Record<string, string> => ({
    lat: String(lat),
    lon: String(lon),
    zoom: "17",
  });
  const fuelOf = async ({ id }: Place) => (await api.get(`/stations/${id}`)).body.station.fuel;
  const openCard = async (map: Map, { id }: Place): Promise<void> => {
    await stationsInView(map);
    await map.getByRole("button", { name: `Station ${id}` }).click();
    await map.getByRole("heading", { name: `Station ${id}` }).waitFor();
  };
  /** A driver's browser with the station's card open. */
  const driver = async (
    place: Place,
    { device = "", ...options }: PageOptions & { device?: string } = {},
  ): Promise<OpenedPage> => {
    const opened = await openPage(options);
    if (device !== "")
      await opened.page.addInitScript(`localStorage.setItem("device", "${device}")`);
    await opened.page.goto(site.widgetUrl(around(place)));
    await openCard(opened.page, place);
    return opened;
  };
  const mark = async (map: Map, status: string): Promise<void> => {
    await map.getByRole("button", { name: "Update status" }).click();
    await map.getByRole("button", { name: status, exact: true }).click();
    await sendNow(map);
  };

  it("shows what became of a mark, lets another device confirm it but not its author, and tells the API", async () => {
    const place = nextPlace();
    const author = await openPage();
    await author.page.goto(site.pageOn("www.shop.test", around(place)));
    const map = frameOf(author.page);
    await openCard(map, place);
    await mark(map, "Queue");
    await map.getByText("It shows on the map when one more driver confirms it").waitFor();
    await map.getByText("Not confirmed yet: a queue").waitFor();
    await map.getByText("Your mark waits for another driver").waitFor();
    expect(await map.getByRole("button", { name: /^Confirm/ }).count()).to.equal(0);
    const pending = await fuelOf(place);
    expect([pending.status, pending.pending_status]).to.deep.equal(["nodata", "queue"]);
    // Known for more than a day: new devices of one network are one device.
    await site.country.meetDevice("second-device", 26 * 60);
    // Frames of other sites have no localStorage in fresh profiles: this device is on the map's own page.
    const second = await driver(place, { device: "second-device" });
    const other = second.page;
    await other.getByRole("button", { name: "Confirm: a queue" }).click();
    await sendNow(other);
    await other.getByText("Thank you. Your mark is on the map.").waitFor();
    await other.locator(".status-now").getByText("Queue", { exact: true }).waitFor();
    const shown = await fuelOf(place);
    expect([shown.status, shown.pending_status]).to.deep.equal(["queue", ""]);
  });

  itLong("forgets the device here and at the service, and not while that is away", async () => {
    const place = nextPlace();
    const { page } = await driver(place);
    await mark(page, "Little fuel");
    await page.getByText("Thank you").waitFor();
    const remembered = () =>
      page.evaluate<(string | null)[]>(
        `["device", "marks"].map((name) => localStorage.getItem(name))`,
      );
    const [device] = (await remembered()) as [string];
    const known = () =>
      rows(site.country.db, "select from reporters where hash = decode(?, 'hex')", [
        deviceReporter(site.instance.config.reporterPepper, device),
      ]);
    expect(await known()).to.have.length(1);
    await page.keyboard.press("Escape");
    await stationsInView(page);
    await page.getByRole("button", { name: "More" }).click();
    const forget = async (): Promise<void> => {
      await page.getByRole("button", { name: "Forget this device" }).click();
      await page.getByRole("button", { name: "Forget it" }).click();
    };
    await page.route("**/widget/forget", (route) => route.abort());
    await forget();
    await page.getByText("nothing was forgotten").waitFor();
    expect((await remembered())[0]).to.equal(device);
    await page.unroute("**/widget/forget");
    await forget();
    await page.getByText("This device is forgotten.").waitFor();
    expect(await remembered()).to.deep.equal([null, null]);
    expect(await known()).to.have.length(0);
    const link = await page.getByRole("link", { name: "Privacy" }).getAttribute("href");
    const policy = await (await fetch(link!)).text();
    expect(policy).to.include("Forget this device");
  });

  itLong("does not ask a driver to confirm his own mark after a reload either", async () => {
    const place = nextPlace();
    const { page } = await driver(place);
    await mark(page, "Little fuel");
    await page.getByText("Thank you").waitFor();
    await page.reload();
    await openCard(page, place);
    await page.getByText("Your mark waits for another driver").waitFor();
    expect(await page.getByRole("button", { name: /^Confirm/ }).count()).to.equal(0);
  });

  it("counts a mark made at the station, with all its details, and shows what the API says", async () => {
    const place = nextPlace();
    const position = { latitude: place.lat, longitude: place.lon, accuracy: 10 };
    const { page, complaints } = await driver(place, { position });
    await page.getByRole("button", { name: "Update status" }).click();
    await page.getByRole("button", { name: "Add details" }).click();
    await page.getByRole("button", { name: "Fuel", exact: true }).click();
    await page.getByLabel("Price of 95").fill("61.5");
    await page.getByLabel("Limit per person").fill("20");
    await page.getByLabel("Comment").fill("<b>quick</b>");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await sendNow(page);
    await page.getByText("Thank you").waitFor();
    const fuel = await fuelOf(place);
    expect([fuel.status, fuel.limit_l]).to.deep.equal(["yes", 20]);
    await page.locator(".status-now").getByText("Fuel", { exact: true }).waitFor();
    await page.getByText("At most 20 l per person").waitFor();
    expect(await page.locator(".grades").innerText()).to.match(/95\s+\?\s+not known\s+₽61\.50/);
    expect(complaints).to.deep.equal([]);
  });

  itLong("knows its driver in a frame without storage, on that website alone", async () => {
    const place = nextPlace();
    const { page } = await openPage({ windows: true });
    await page.goto(site.pageOn("www.shop.test", around(place)));
    await openCard(frameOf(page), place);
    await mark(frameOf(page), "Queue");
    await frameOf(page).getByText("Your mark waits for another driver").waitFor();
    await page.reload();
    await openCard(frameOf(page), place);
    await frameOf(page).getByText("Your mark waits for another driver").waitFor();
    await page.goto(site.pageOn("www.shop2.test", around(place)));
    await openCard(frameOf(page), place);
    await frameOf(page).getByRole("button", { name: "Confirm: a queue" }).waitFor();
  });

  itLong("offers no marks where the key takes none, and says so when that changes", async () => {
    const { db, partnerId } = site.country;
    const place = nextPlace();
    await api.mark({ ...place, lat: 10 }, "far away", { status: "low" });
    const key = await addKey(db, partnerId, "publishable", { domains: [], reports: false });
    const { page } = await openPage();
    await page.goto(site.widgetUrl({ ...around(place), key }));
    await openCard(page, place);
    await page.getByText("Not confirmed yet: little fuel").waitFor();
    expect(await page.getByRole("button", { name: /^(Confirm|Update)/ }).count()).to.equal(0);

    const open = await addKey(db, partnerId, "publishable", { domains: [] });
    const late = await openPage();
    await late.page.goto(site.widgetUrl({ ...around(place), key: open }));
    await openCard(late.page, place);
    await rows(db, "update keys set reports = false where id = (select max(id) from keys)", []);
    const asked = createClient(site.web.baseUrl, open);
    await until(
      async () => (await asked.get("/widget/config")).body.reports_enabled as boolean,
      (enabled) => !enabled,
    );
    await mark(late.page, "Fuel");
    await late.page.getByText("Marks are switched off on this map").waitFor();
  });

  itLong("says that it is offline, keeps the mark, and sends it when it is back", async () => {
    const place = nextPlace();
    const { page } = await driver(place);
    const context = page.context();
    await context.setOffline(true);
    const notice = page.getByText("You are offline. Last update: just now.");
    await notice.waitFor();
    await mark(page, "Fuel");
    await page.getByText("Your mark is kept on this device").waitFor();
    await page.getByText("1 mark waits for the network").waitFor();
    expect((await fuelOf(place)).pending_status).to.equal("");
    await context.setOffline(false);
    await page.getByText("your mark has arrived").waitFor();
    await notice.waitFor({ state: "detached" });
    expect((await fuelOf(place)).pending_status).to.equal("yes");
    await page.getByText("1 mark waits for the network").waitFor({ state: "detached" });
  });

  itLong("says that the service does not answer, keeps the stations, and recovers", async () => {
    const place = nextPlace();
    const { page } = await openPage();
    await page.route("**/api/v1/partner/stations?*", (route) =>
      route.fulfill({ status: 503, contentType: "application/problem+json", body: "{}" }),
    );
    await page.goto(site.widgetUrl(around(place)));
    const notice = page.getByText("The service does not answer just now. Trying again");
    await notice.waitFor();
    await page.unroute("**/api/v1/partner/stations?*");
    await notice.waitFor({ state: "detached" });
    expect(await stationsInView(page)).to.be.greaterThan(0);
  });

  itLong("waits for the service when it does not even say how to begin", async () => {
    const { page } = await openPage();
    await page.route("**/widget/config", (route) => route.fulfill({ status: 503, body: "" }));
    await page.goto(site.widgetUrl());
    await page.getByText("The service does not answer just now").waitFor();
    await page.unroute("**/widget/config");
    await page.getByRole("region", { name: "Map of filling stations" }).waitFor();
  });
});

describe("browser: a status that expires", function () {
  useBrowser();
  const site = useMap({ stations: 5, roles: ["marks"], env: { STATUS_LIFETIME_MS: "15000" } });

  itLong("is gone from the map and from the API alike, without a reload", async () => {
    const { lat, lon, id } = placeOf(0);
    const position = { latitude: lat, longitude: lon, accuracy: 5 };
    const { page } = await openPage({ position });
    await page.clock.install();
    await page.goto(site.widgetUrl({ lat: String(lat), lon: String(lon), zoom: "17" }));
    await stationsInView(page);
    await page.getByRole("button", { name: `Station ${id}` }).click();
    await page.getByRole("button", { name: "Update status" }).click();
    await page.getByRole("button", { name: "Little fuel" }).click();
    await sendNow(page);
    const now = page.locator(".status-now");
    await now.getByText("Little fuel", { exact: true }).waitFor();
    const partner = createClient(site.web.baseUrl, site.country.secret);
    await until(
      () => partner.get(`/stations/${id}`),
      ({ body }) => body.station.fuel.status === "nodata",
    );
    // The page asks again each minute.
    await page.clock.fastForward(61_000);
    await now.getByText("No data", { exact: true }).waitFor();
  });
});
