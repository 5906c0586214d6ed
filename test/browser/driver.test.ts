import { expect } from "chai";
import type { Page } from "playwright-core";
import { sendNow, stationsInView, tell } from "#test/browser/map-site.ts";
import { useOwnMap } from "#test/browser/offline-drive.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { isClean, openPage, press, useBrowser, type PageOptions } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

// Station 3 has 95 and its price, 5 is out of it, of 8 nobody has told, and 40 alone, 12 km from the first, has 98.
describe("browser: a driver who needs a grade", function () {
  let api: Client;
  const phone = { phone: true, width: 360, height: 640 };
  const ru = { phone: true, width: 390, height: 780, locale: "ru-RU" };
  const at = (n: number) => ({ latitude: placeOf(n).lat, longitude: placeOf(n).lon, accuracy: 10 });
  const view = (n: number, zoom = 14) => ({
    lat: String(placeOf(n).lat),
    lon: String(placeOf(n).lon),
    zoom: String(zoom),
    gestures: "greedy",
  });

  useBrowser();
  const site = useOwnMap(60);
  before(async () => {
    api = createClient(site.web.baseUrl, site.country.secret);
    await tell(site, [
      [3, { status: "queue", fuels: ["92", "95"], prices: { 95: 61.5 }, queue: "5-10" }],
      [5, { status: "yes", fuels: ["92"], fuels_no: ["95"] }],
      [8, { status: "yes" }],
      [40, { status: "low", fuels: ["98"], prices: { 98: 70.1 } }],
    ]);
  });

  const open = async (parameters: Record<string, string>, options: PageOptions = phone) => {
    const opened = await openPage(options);
    await opened.page.goto(site.widgetUrl(parameters));
    await opened.page.locator(".controls.lower").waitFor();
    return opened;
  };
  const pressIn = (page: Page, name: string) =>
    page.locator(".panel").getByRole("button", { name, exact: true }).click();
  const row = (page: Page, n: number) => page.locator(`[data-id="${placeOf(n).id}"]`);
  /** Nothing of the open panel is cut or covered in small frames and in letters twice as large. */
  const wholeInAllSizes = async (page: Page): Promise<void> => {
    for (const [width, height, letters] of [
      [300, 420, ""],
      [740, 360, ""],
      [360, 640, "32px"],
      [360, 640, ""],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.evaluate(`document.documentElement.style.fontSize = "${letters}"`);
      const faults = () =>
        page.evaluate<string[]>(`innerWidth !== ${width} ? ["not resized"] : [
          ...document.querySelectorAll(".panel button, .panel a, .panel textarea, .panel .price"),
        ].flatMap((one) => {
          one.scrollIntoView({ block: "center", behavior: "instant" });
          const { left, right, top, width, height } = one.getBoundingClientRect();
          if (width === 0 || !one.checkVisibility()) return [];
          const hit = document.elementFromPoint(left + width / 2, top + height / 2);
          return left >= 0 && right <= innerWidth && one.contains(hit) ? [] : [one.outerHTML];
        })`);
      const left = await until(faults, (found) => found.length === 0, 15_000).catch(faults);
      expect(left, `${width}×${height} ${letters}`).to.deep.equal([]);
    }
  };

  itLong("sees the filter of a partner's address, and takes it to another grade", async () => {
    const { page, complaints } = await open({ ...view(4, 13), fuel: "95" });
    await press(page, "List of stations");
    await page.getByRole("heading", { name: "1 of 1 have 95" }).waitFor();
    await pressIn(page, "92");
    await page.getByRole("heading", { name: "2 of 2 have 92" }).waitFor();
    await pressIn(page, "92");
    await page.getByRole("heading", { name: "in view" }).waitFor();
    expect(await page.locator(".stations .station-row").count()).to.be.above(2);
    expect(complaints).to.deep.equal([]);
  });

  it("sees who has it, in the notice, the list and the address, and after a reload", async () => {
    const { page, complaints } = await open(view(4, 13));
    await stationsInView(page);
    await page.keyboard.press("Escape");
    await press(page, "95");
    await page.locator(".notice", { hasText: /^1 of \d+ have 95$/ }).waitFor();
    await isClean(page);
    // A partner's address stays as it is; the device remembers.
    await page.reload();
    await page.getByRole("button", { name: "95", exact: true, pressed: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("fuel")).to.equal(null);
    await press(page, "List of stations");
    await page.getByRole("heading", { name: /^1 of \d+ have 95$/ }).waitFor();
    const first = page.locator(".stations .station-row").first();
    expect(await first.innerText()).to.match(/Station n1003[^]*5-10 cars[^]*Queue\s+95: ₽61\.50/);
    expect(await row(page, 5).innerText()).to.include("No fuel");
    expect(await row(page, 8).innerText()).to.include("No data");
    await isClean(page);
    // Another grade answers otherwise, any fuel for all.
    await pressIn(page, "98");
    await page.getByRole("heading", { name: /^0 of \d+ have 98$/ }).waitFor();
    await pressIn(page, "98");
    await page.getByRole("heading", { name: "in view" }).waitFor();
    expect(await row(page, 8).innerText()).to.include("Fuel");
    expect(complaints).to.deep.equal([]);
  });

  itLong("is told when nobody has it, and hears a clear word without a position", async () => {
    const { page } = await open({ ...view(0), fuel: "100" }, { ...phone, position: at(0) });
    await press(page, "Nearest with 100");
    await page.getByText("No station with 100 is known within 60 km.").waitFor();
    // The panel answers for another grade at once.
    await pressIn(page, "95");
    await page.getByText("Within 5 km of you").waitFor();
    await row(page, 3).waitFor();
    const lost = await open(view(20), phone);
    await press(lost.page, "Nearest with fuel");
    await lost.page.getByText("You can look around a city instead").waitFor();
    await isClean(lost.page);
    await press(lost.page, "Around the middle of the map");
    await lost.page.getByText("Within 5 km of the middle of the map").waitFor();
    await press(lost.page, "Look somewhere else");
    await press(lost.page, "Testograd");
    await lost.page.getByText("Within 5 km of the middle of Testograd").waitFor();
    await row(lost.page, 3).waitFor();
  });

  itLong("goes from the list to a card and back to the same place in the list", async () => {
    const { page } = await open(view(15, 12));
    expect(await stationsInView(page)).to.be.greaterThan(20);
    const chosen = page.locator(".stations button[data-id]").nth(15);
    const id = await chosen.getAttribute("data-id");
    await chosen.scrollIntoViewIfNeeded();
    const scrolled = () => page.evaluate<number>("document.querySelector('.panel-body').scrollTop");
    const before = await scrolled();
    expect(before).to.be.greaterThan(100);
    await chosen.click();
    await page.getByRole("heading", { name: `Station ${id}` }).waitFor();
    await isClean(page);
    await press(page, "Back");
    await page.locator(`[data-id="${id}"]:focus`).waitFor();
    expect(await scrolled()).to.be.closeTo(before, 4);
    // The browser's own way back does the same.
    await page.locator(`[data-id="${id}"]`).click();
    await page.getByRole("heading", { name: `Station ${id}` }).waitFor();
    await page.goBack();
    await page.locator(`[data-id="${id}"]:focus`).waitFor();
    await page.goBack();
    await page.locator(".panel").waitFor({ state: "detached" });
  });

  itLong("may take a mark back, and is not held up by the question for the position", async () => {
    const { page, requests } = await openPage(ru);
    // A viewer who lets the browser's question stand, and seconds that pass when they are told to.
    await page.addInitScript("navigator.geolocation.getCurrentPosition = () => {}");
    await page.clock.install();
    await page.goto(site.widgetUrl(view(8, 17)));
    await page.getByRole("region", { name: "Карта заправочных станций" }).waitFor();
    await press(page, "Список станций");
    await row(page, 8).click();
    await page.locator(".still-true").waitFor();
    await page.clock.pauseAt(Date.now() + 600_000);
    const marks = (): string[] => requests.filter((url) => url.endsWith("/report"));
    await press(page, "Да");
    await page.getByText("Ваша отметка: Есть.").waitFor();
    await page.clock.runFor(4000);
    await press(page, "Отменить");
    await page.locator(".waiting-mark").waitFor({ state: "detached" });
    await page.clock.runFor(10_000);
    expect(marks()).to.deep.equal([]);
    await press(page, "Нет");
    await page.clock.runFor(500);
    await page.getByText("Определяем ваше местоположение").waitFor();
    await page.clock.runFor(3000);
    await page.getByText("Отметка уйдёт без него").waitFor();
    await press(page, "Очередь");
    await page.getByText("Ваша отметка: Очередь.").waitFor();
    expect(marks()).to.deep.equal([]);
    // Nobody presses anything: it goes by itself.
    await page.clock.runFor(6000);
    await page.getByText("Спасибо.").waitFor();
    expect(marks()).to.have.length(1);
    await until(
      async () => (await api.get(`/stations/${placeOf(8).id}`)).body.station.fuel.pending_status,
      (pending) => pending === "queue",
    );
  });

  itLong("is asked at a station, adds details to a mark, is told of the cooldown", async () => {
    const { page, requests } = await openPage({ ...phone, position: at(12) });
    await page.clock.install();
    await page.goto(site.widgetUrl(view(12, 17)));
    await page.locator(".controls.lower").waitFor();
    const question = page.getByRole("group", {
      name: "Are you at Station n1012? Is there fuel?",
    });
    const learnPosition = async (): Promise<void> => {
      await press(page, "Nearest with fuel");
      await page.getByText("Within 5 km of you").waitFor();
      expect(await question.count()).to.equal(0);
      await pressIn(page, "Close");
      await page.locator(".panel").waitFor({ state: "detached" });
    };
    await learnPosition();
    await question.waitFor();
    await isClean(page);
    await question.getByRole("button", { name: "Close" }).click();
    await question.waitFor({ state: "detached" });
    // Put away for hours, not for this page only.
    await page.reload();
    await page.locator(".controls.lower").waitFor();
    await learnPosition();
    await press(page, "List of stations");
    await row(page, 12).click();
    await page.getByRole("heading", { name: "Station n1012" }).waitFor();
    await wholeInAllSizes(page);
    await press(page, "Update status");
    await wholeInAllSizes(page);
    await press(page, "Add details");
    await wholeInAllSizes(page);
    await press(page, "Without details");
    await page.clock.pauseAt(Date.now() + 600_000);
    await press(page, "Fuel");
    await press(page, "Add details");
    await page.getByRole("heading", { name: "Your mark: Fuel." }).waitFor();
    // The seconds stand still.
    await page.clock.runFor(20_000);
    expect(requests.filter((url) => url.endsWith("/report"))).to.deep.equal([]);
    await page.getByLabel("Price of 95").fill("61.5");
    await press(page, "Send");
    await page.locator(".result.good").waitFor();
    await page.getByText(/^You marked this at \d.*; again from \d/).waitFor();
    expect(requests.filter((url) => url.endsWith("/report"))).to.have.length(1);
    const { fuel } = (await api.get(`/stations/${placeOf(12).id}`)).body.station;
    expect(fuel).to.deep.include({ status: "yes" });
    expect(JSON.stringify(fuel)).to.include("61.5");

    // For two minutes it can be taken back, once; then the device marks again at once.
    await page.clock.resume();
    await wholeInAllSizes(page);
    await isClean(page);
    await pressIn(page, "Take back");
    await page.getByRole("heading", { name: "What is it like there now?" }).waitFor();
    const fuelNow = async () => (await api.get(`/stations/${placeOf(12).id}`)).body.station.fuel;
    await until(fuelNow, ({ status, updated }) => status === "nodata" && updated === "");
    await press(page, "No fuel");
    await press(page, "Send now");
    await page.locator(".result.good").waitFor();
    await page.getByText(/^You marked this at \d.*; again from \d/).waitFor();
    expect(await page.getByRole("button", { name: "Take back" }).count()).to.equal(0);
    await until(fuelNow, (one) => one.status === "no" || one.pending_status === "no");
  });

  itLong("says with one tap that what is shown is still so", async () => {
    const { page } = await open({ ...view(5, 17), fuel: "92" }, { ...phone, position: at(5) });
    await press(page, "List of stations");
    await row(page, 5).click();
    await press(page, "Yes");
    await sendNow(page);
    await page.locator(".result.good").waitFor();
    // Nobody is asked again who has just said it.
    expect(await page.locator(".still-true").count()).to.equal(0);
    const { fuel } = (await api.get(`/stations/${placeOf(5).id}`)).body.station;
    expect(fuel).to.include({ status: "yes", fuels_now: "92", fuels_no: "95" });
  });

  itLong("says with one tap who of those that disagree is right", async () => {
    const { id } = placeOf(20);
    for (const [n, user] of ["old-1", "old-2", "old-3", "old-4"].entries())
      await site.country.meet(user, 60 + 20 * n);
    for (const user of ["old-1", "old-2"]) await api.mark(placeOf(20), user, { status: "yes" });
    for (const user of ["old-3", "old-4"])
      await api.post(`/stations/${id}/report`, { user_ref: user, status: "no" });
    await until(
      () => api.get(`/stations/${id}`),
      ({ body }) => body.station.fuel.conflict !== null,
    );
    const { page } = await open(view(20, 17), { ...phone, position: at(20) });
    await press(page, "List of stations");
    await row(page, 20).click();
    const sides = page.locator(".doubt.conflict");
    await sides.getByRole("button", { name: "Confirm: there is fuel" }).waitFor();
    await isClean(page);
    await sides.getByRole("button", { name: "Confirm: no fuel" }).click();
    await sendNow(page);
    await page.locator(".result.good").waitFor();
    const { body } = await api.get(`/stations/${id}`);
    const { versions } = body.station.fuel.conflict as { versions: Record<string, unknown>[] };
    expect(versions.map(({ status, count }) => [status, count])).to.deep.equal([
      ["yes", 2],
      ["no", 3],
    ]);
    expect(await sides.getByRole("button", { name: "Confirm: no fuel" }).count()).to.equal(0);
  });

  itLong("reads the stations before the map's script, and without any script", async () => {
    const { page } = await openPage(phone);
    let letGo = (): void => {};
    const held = new Promise<void>((go) => (letGo = go));
    await page.route(/\/assets\/.*\.m?js$/, async (route) => {
      await held;
      await route.continue();
    });
    const city = encodeURIComponent("Тестоград");
    await page.goto(`${site.web.baseUrl}/?city=${city}&fuel=95`, { waitUntil: "commit" });
    await page.getByRole("heading", { name: "Nearest with 95: Тестоград" }).waitFor();
    const rows = page.locator("#early .station-row");
    // Those that have it, and no others.
    expect(await rows.allTextContents()).to.have.length(1);
    expect(await rows.textContent()).to.include("Station n1003");
    letGo();
    await page.locator(".controls.lower").waitFor();
    await page.locator("#early").waitFor({ state: "detached" });
    const plain = await openPage({ scripts: false, locale: "ru-RU" });
    const still = plain.page;
    await still.goto(`${site.web.baseUrl}/`);
    await still.getByRole("link", { name: "95", exact: true }).click();
    await still.getByRole("link", { name: "Тестоград" }).click();
    const link = still.getByRole("link", { name: "Station n1003" });
    await link.getByText("95: 61,50 ₽").waitFor();
    await still.goto(new URL((await link.getAttribute("href"))!, still.url()).href);
    expect(await still.title()).to.equal("Station n1003: Очередь");
  });

  itLong("opens the station that somebody has shared, and shares it on", async () => {
    const { page, complaints } = await openPage({ ...phone, width: 390 });
    await page.goto(`${site.web.baseUrl}/s/${placeOf(3).id}`);
    await page.getByRole("heading", { name: "Station n1003" }).waitFor();
    await page.locator(".status-now").getByText("Queue").waitFor();
    await page.locator(".ways summary").click();
    const links = await page.locator(".ways li a").all();
    const found = await Promise.all(links.map((link) => link.getAttribute("href")));
    expect(found.map((href) => new URL(href!).host)).to.deep.equal([
      "yandex.com",
      "2gis.ru",
      "www.google.com",
      "maps.apple.com",
    ]);
    const share = page.getByRole("link", { name: "Share" });
    expect(await share.getAttribute("href")).to.equal(`${site.web.baseUrl}/s/n1003`);
    await isClean(page);
    await press(page, "Close");
    await page.locator(".panel").waitFor({ state: "detached" });
    expect(complaints).to.deep.equal([]);
  });
});
