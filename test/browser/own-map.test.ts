import { expect } from "chai";
import type { Page } from "playwright-core";
import { rows } from "#src/infrastructure/db.ts";
import { signInTo } from "#test/browser/console-site.ts";
import { stationsInView, tell } from "#test/browser/map-site.ts";
import { mapAt, marksOf, sayOffline, titleOf, useOwnMap } from "#test/browser/offline-drive.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addOperator } from "#test/flow/operators.ts";
import { isClean, openPage, press, useBrowser, type PageOptions } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

/** Whether something that the page keeps passes a test, in the page's own words. */
const keeps = (test: string): string => `new Promise((done) => {
  const request = indexedDB.open("fuelmark");
  request.onerror = () => done(false);
  request.onsuccess = () => {
    const db = request.result;
    const all = db.transaction("kept").objectStore("kept").getAll();
    all.onsuccess = () => {
      db.close();
      done(all.result.some((one) => ${test}));
    };
  };
})`;

const isHeld = keeps("Array.isArray(one) && one.some((part) => part.stations.length > 0)");

describe("browser: the operator's own map: without a network, along a way, what is wrong", function () {
  useBrowser();
  const site = useOwnMap();
  before(async () => {
    await addOperator(site.country.db, "olga");
    await tell(site, [
      [4, { status: "yes", fuels: ["95"] }],
      [9, { status: "yes", fuels: ["92"] }],
      [20, { status: "yes", fuels: ["95", "92"] }],
    ]);
  });

  /** Until everything is kept that the map needs without a network. */
  const untilKept = async (page: Page): Promise<void> => {
    await until(
      () => page.evaluate<boolean>("navigator.serviceWorker.controller !== null"),
      (controlled) => controlled,
    );
    await until(
      () => page.evaluate<boolean>(isHeld),
      (held) => held,
    );
  };
  it("is installable, opens in aeroplane mode with its data and their age, finds in it, and forgets it", async () => {
    const { page } = await openPage({ installs: true, phone: true, width: 390 });
    await page.goto(mapAt(site, 4));
    const manifest = await page.locator('link[rel="manifest"]').getAttribute("href");
    const told = await fetch(new URL(manifest ?? "", `${site.web.baseUrl}/`));
    expect(await told.json()).to.include({
      name: "Fuel map",
      display: "standalone",
      start_url: "./",
    });
    const worker = await fetch(`${site.web.baseUrl}/service-worker.js`);
    expect(worker.headers.get("cache-control")).to.equal("no-cache");
    await stationsInView(page);
    await untilKept(page);
    await page.context().setOffline(true);
    await page.reload();
    await page.getByText(/^You are offline\. Last update: /).waitFor();
    expect(await stationsInView(page)).to.be.greaterThan(1);
    await page.getByRole("combobox", { name: "Search" }).fill(titleOf(4));
    await page.getByRole("option", { name: titleOf(4) }).click();
    await page.getByRole("heading", { name: titleOf(4) }).waitFor();
    await page.locator(".status-now.yes").waitFor();
    // In a tab of its own: the browser's own page about it comes a moment later.
    const other = await page.context().newPage();
    const elsewhere = await other.goto(`${site.web.baseUrl}/console/`).catch(() => "not kept");
    expect(elsewhere).to.equal("not kept");
    await other.close();
    // A station's own page, which was never opened.
    await page.goto(`${site.web.baseUrl}/s/${placeOf(6).id}`);
    await page.getByRole("heading", { name: titleOf(6) }).waitFor();
    await sayOffline(page, 5, "Fuel");
    const strip = page.locator(".outbox");
    await strip.getByText("1 mark waits for the network").click();
    await isClean(page);
    await page.getByRole("button", { name: `Do not send: ${titleOf(5)}` }).click();
    await strip.waitFor({ state: "detached" });
    await page.context().setOffline(false);
    await page.getByText(/^You are offline/).waitFor({ state: "detached" });
    expect(await marksOf(site, 5)).to.deep.equal([]);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Forget this device" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await page.getByText("This device is forgotten.").waitFor();
    expect(await page.evaluate("caches.keys()")).to.deep.equal([]);
  });

  const openFar = async (options: PageOptions) => {
    const { lat, lon } = placeOf(30);
    const position = { latitude: lat, longitude: lon, accuracy: 10 };
    const opened = await openPage({ ...options, position });
    await opened.page.goto(`${mapAt(site, 30)}&fuel=95`);
    return opened;
  };

  itLong("lists stations in the order of the way to a city, by the fuel", async () => {
    const { page, complaints } = await openFar({ phone: true, width: 360, height: 640 });
    await until(
      () => page.evaluate<boolean>(keeps("one.cities?.length > 0")),
      (kept) => kept,
    );
    const came = page.waitForResponse(/\/cities\?limit=200/);
    await page.reload();
    await came;
    await press(page, "More");
    await press(page, "Along my way");
    await page.getByText("Near the straight line: the map does not know the roads.").waitFor();
    // Those that came are not added to those that were kept.
    const cities = page.getByLabel("Choose a city …");
    await cities.waitFor();
    expect(await cities.locator("option").allInnerTexts()).to.deep.equal([
      "Choose a city …",
      "Testograd",
    ]);
    await cities.selectOption({ label: "Testograd" });
    await page.getByText(/^2 stations with 95 on \d+ km$/).waitFor();
    const rows = page.locator(".stations .station-row");
    expect(await rows.allInnerTexts()).to.have.length(2);
    expect(await rows.nth(0).innerText()).to.include(titleOf(20));
    expect(await rows.nth(1).innerText()).to.match(/after [\d.]+ km, \d+ m aside/);
    await isClean(page);
    await page.locator(".panel").getByRole("button", { name: "92", exact: true }).click();
    await page.locator(`[data-id="${placeOf(9).id}"]`).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  itLong("looks along a way in Russian, to a place on the map, not without network", async () => {
    const { page } = await openFar({
      locale: "ru-RU",
      width: 1280,
      height: 800,
      dark: true,
    });
    await page.getByRole("region", { name: "Карта заправочных станций" }).waitFor();
    await press(page, "Ещё");
    await press(page, "По пути");
    await press(page, "Показать место на карте");
    await press(page, "Здесь");
    await page.getByText("место на карте", { exact: true }).waitFor();
    await page.getByText(/станци[яий] с 95 на|нет известных станций/).waitFor();
    await isClean(page);
    await page.context().setOffline(true);
    await page.getByLabel("15 км", { exact: true }).check();
    await page.getByText("Нет сети. Искать станции по пути можно только с сетью.").waitFor();
  });

  const said = (kind: string) =>
    until(
      () =>
        rows<{ station_id: string; lat: number; lon: number; text: string }>(
          site.country.db,
          "select station_id, lat, lon, text from station_suggestions where kind = ?",
          [kind],
        ),
      ({ length }) => length > 0,
    );

  it("takes what is wrong with a station on a phone, the place by a pin on the map", async () => {
    const view = { phone: true, width: 360, height: 640 };
    const { page, complaints } = await openPage(view);
    await page.goto(mapAt(site, 5));
    await stationsInView(page);
    await page.getByRole("button", { name: titleOf(5) }).click();
    await press(page, "Something wrong with the station?");
    await page.getByRole("heading", { name: "What is wrong?" }).waitFor();
    await isClean(page);
    await page.getByLabel("It stands elsewhere").check();
    await press(page, "Send");
    await page.getByText("Say first where it stands.").waitFor();
    await press(page, "Show it on the map");
    await page.getByText("Move the map until the pin is on the place.").waitFor();
    await isClean(page);
    // Escape calls the choice off, and nothing else.
    await page.keyboard.press("Escape");
    await press(page, "Show it on the map");
    await page.locator(".maplibregl-canvas").focus();
    await page.keyboard.press("ArrowRight");
    await press(page, "Here");
    await page.getByText(/^Place chosen, \d+ m from/).waitFor();
    await page.getByLabel("In a few words").fill("behind\nthe  shop");
    await isClean(page);
    await press(page, "Send");
    await page.getByText("Thank you. The operator will look at it.").waitFor();
    const [moved] = await said("moved");
    expect(moved).to.include({ station_id: placeOf(5).id, text: "behind the shop" });
    expect(moved!.lat).to.be.closeTo(placeOf(5).lat, 0.01);
    // Back on the card, and what was asked is not asked again.
    await press(page, "Back");
    await page.getByRole("heading", { name: titleOf(5) }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  itLong("takes in Russian, dark, that one is missing at the driver's place", async () => {
    const { lat, lon } = placeOf(9);
    const position = { latitude: lat + 0.01, longitude: lon + 0.01, accuracy: 10 };
    const view = { locale: "ru-RU", width: 1280, height: 800, dark: true, position };
    const { page, complaints } = await openPage(view);
    await page.goto(mapAt(site, 9));
    await press(page, "Ещё");
    await press(page, "Здесь не хватает станции");
    await page.getByRole("heading", { name: "Станции нет на карте" }).waitFor();
    await press(page, "Там, где я сейчас");
    await page.getByText("Место выбрано.").waitFor();
    await isClean(page);
    await press(page, "Отправить");
    await page.getByText("Спасибо! Оператор проверит.").waitFor();
    const [missing] = await said("missing");
    expect(missing!.lat).to.be.closeTo(lat + 0.01, 0.00001);
    expect(missing!.lon).to.be.closeTo(lon + 0.01, 0.00001);
    expect(complaints).to.deep.equal([]);
  });

  itLong("keeps what is wrong until there is a network, as marks", async () => {
    const { page } = await openPage({ phone: true, width: 390 });
    await page.goto(mapAt(site, 12));
    await stationsInView(page);
    await page.getByRole("button", { name: titleOf(12) }).click();
    await press(page, "Something wrong with the station?");
    await page.context().setOffline(true);
    await page.getByLabel("It is closed for good").check();
    await press(page, "Send");
    await page.getByText("It is kept on this device and goes out by itself.").waitFor();
    await page.getByText("1 suggestion waits for the network").waitFor();
    await isClean(page);
    await page.context().setOffline(false);
    const [closed] = await said("closed");
    expect(closed!.station_id).to.equal(placeOf(12).id);
    await page.getByText(`${titleOf(12)}: your suggestion has arrived.`).waitFor();
  });

  itLong("leads the operator from a suggestion to the station, and back", async () => {
    const { page, complaints } = await openPage({ width: 1280, height: 900 });
    await signInTo(site.web.baseUrl, page, "/suggestions");
    const card = page.locator("article", { hasText: "It stands elsewhere" });
    await card.getByText("behind the shop").waitFor();
    await page.locator("article", { hasText: "A station is missing here" }).waitFor();
    await isClean(page);
    await card.getByRole("button", { name: "Move it …" }).click();
    const [moved] = await said("moved");
    await page.getByText("away", { exact: false }).first().waitFor();
    expect(await page.getByLabel("Latitude").inputValue()).to.equal(String(moved!.lat));
    await press(page, "Save");
    await page.getByText("Saved, served at once").waitFor();
    await page.goBack();
    await card.getByRole("button", { name: "Done" }).click();
    await page
      .getByText(/^Done: .*It stands elsewhere/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await card.getByRole("button", { name: "Not so" }).click();
    await page
      .getByText(/^Not so: /)
      .first()
      .waitFor();
    const missing = page.locator("article", { hasText: "A station is missing here" });
    await missing.getByRole("button", { name: "Add it …" }).click();
    await missing.getByLabel("Name").fill("New pumps");
    await isClean(page);
    await press(page, "Add the station");
    await missing.getByRole("link", { name: "New pumps" }).waitFor();
    expect(complaints.filter((one) => !one.includes("401"))).to.deep.equal([]);
  });
});
