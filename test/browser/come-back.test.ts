import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { tell } from "#test/browser/map-site.ts";
import { useOwnMap } from "#test/browser/offline-drive.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { newBrowser } from "#test/flow/push-services.ts";
import { isClean, openPage, press, useBrowser, type PageOptions } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

// Station 3 has 95. Stations 2 and 4 are of another brand than all others.
describe("browser: a driver who comes back", function () {
  const phone = { phone: true, width: 360, height: 640 };
  const desktop = { width: 1024, height: 700 };
  const at = { latitude: placeOf(0).lat, longitude: placeOf(0).lon, accuracy: 10 };

  useBrowser();
  const site = useOwnMap();
  before(async () => {
    const { country } = site;
    const renamed = [placeOf(2).id, placeOf(4).id];
    const rename =
      "update stations set brand = 'Лукойл', name = 'Лукойл ' || id where id = any(?::text[])";
    await rows(country.db, rename, [renamed]);
    await rows(country.db, "select feed_stamp(?::text[])", [renamed]);
    await tell(site, [[3, { status: "yes", fuels: ["95"] }]]);
  });

  const open = async (path: string, options: PageOptions = phone) => {
    const opened = await openPage(options);
    await opened.page.goto(`${site.web.baseUrl}/${path}`);
    await opened.page.locator(".controls.lower").waitFor();
    return opened;
  };
  const view = `lat=${placeOf(3).lat}&lon=37&zoom=14`;

  it("asks to be told, and stops it", async () => {
    const { page, complaints } = await openPage({ ...phone, position: at, installs: true });
    const origin = site.web.baseUrl;
    // The run's browser shows no notifications, and no push service reaches it.
    const given = JSON.stringify(newBrowser({ origin: "https://1.1.1.1" }).subscription);
    await page.addInitScript(
      `Notification.requestPermission = async () => "granted";
       PushManager.prototype.getSubscription = async () => null;
       PushManager.prototype.subscribe = async () => ({ toJSON: () => (${given}) });`,
    );
    await page.goto(`${origin}/?${view}&fuel=100`);
    await page.locator(".controls.lower").waitFor();
    // The page has begun with the answer: the bell is in the head of its panel.
    await page.getByText("No station with 100 is known within 60 km.").waitFor();
    await press(page, "Tell me when it is there");
    await page.getByRole("heading", { name: "Tell me when there is 100" }).waitFor();
    await page.getByRole("radio", { name: "20 km" }).check();
    await press(page, "Tell me");
    await page.getByText("You will get a notification.").waitFor();
    await page.getByText("100 within 20 km").waitFor();
    await isClean(page);
    const kept = await rows(
      site.country.db,
      "select grade, radius_m, lang from fuel_alerts a join push_devices d on d.id = device_id",
    );
    expect(kept).to.deep.equal([{ grade: "100", radius_m: 20_000, lang: "en" }]);
    await page.reload();
    await page.locator(".controls.lower").waitFor();
    await press(page, "Tell me when it is there");
    await press(page, "Stop: 100 within 20 km");
    await page.getByText("100 within 20 km").waitFor({ state: "detached" });
    expect(await rows(site.country.db, "select 1 from push_devices")).to.have.length(0);
    expect(complaints).to.deep.equal([]);
  });

  // What a push service would have brought: sealed and sent it is in test/flow/fuel-alerts.test.ts.
  itLong("sees the notification", async () => {
    const { page, complaints } = await openPage({ ...phone, installs: true, windows: true });
    const origin = site.web.baseUrl;
    await page.context().grantPermissions(["notifications"], { origin });
    await page.goto(`${origin}/?${view}&fuel=100`);
    // The browser's own test call: a push message for the worker of this page.
    const debug = await page.context().newCDPSession(page);
    const registered = new Promise<string>((resolve) => {
      debug.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
        const own = registrations.find(({ isDeleted }) => !isDeleted);
        if (own !== undefined) resolve(own.registrationId);
      });
    });
    await debug.send("ServiceWorker.enable");
    const message = {
      ...{ title: "100 is there", body: "Station n1003", lang: "en", tag: "fuel-1" },
      path: `s/${placeOf(3).id}?lang=en`,
      stop: { id: 1, token: "x", label: "Do not tell me again" },
    };
    const data = JSON.stringify(message);
    const registrationId = await registered;
    const worker = "(async () => (await navigator.serviceWorker.ready).active.state)()";
    await until(
      () => page.evaluate<string>(worker),
      (state) => state === "activated",
    );
    // Browsers drop a message for a worker that does not start in time; a second one of the same tag replaces the first.
    const shown = await until(
      async () => {
        await debug.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data });
        return page.evaluate<{ title: string; body: string; tag: string }[]>(`(async () => {
          const registration = await navigator.serviceWorker.ready;
          await new Promise((done) => setTimeout(done, 500));
          return (await registration.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
        })()`);
      },
      ({ length }) => length > 0,
    );
    expect(shown).to.deep.equal([{ title: "100 is there", body: "Station n1003", tag: "fuel-1" }]);
    expect(complaints).to.deep.equal([]);
  });

  itLong("keeps favourites until the device is forgotten", async () => {
    const { page, complaints } = await open(`s/${placeOf(3).id}`);
    await press(page, "Favourite");
    await page.getByRole("button", { name: "Favourite", pressed: true }).waitFor();
    await isClean(page);
    await page.goto(`${site.web.baseUrl}/?lat=56&lon=40&zoom=12`);
    await press(page, "Favourites");
    const row = page.locator(`.panel [data-id="${placeOf(3).id}"]`);
    await row.waitFor();
    expect(await row.innerText()).to.match(/Station n1003[^]*Fuel/);
    await isClean(page);
    await row.click();
    await page.getByRole("heading", { name: "Station n1003" }).waitFor();
    await press(page, "Back");
    await press(page, "Close");
    await press(page, "More");
    await press(page, "Forget this device");
    await press(page, "Forget it");
    await page.getByText("This device is forgotten.").waitFor();
    expect(await page.getByRole("button", { name: "Favourites" }).count()).to.equal(0);
    expect(await page.evaluate('localStorage.getItem("favourites")')).to.equal(null);
    expect(complaints).to.deep.equal([]);
  });

  itLong("finds in other letters and with a typo, and shares what it sees", async () => {
    const { page } = await open(`?${view}`, desktop);
    const search = page.getByRole("combobox", { name: "Search" });
    const found = page.getByRole("option");
    await search.fill("lukoil");
    await found.filter({ hasText: `Лукойл ${placeOf(2).id}` }).waitFor();
    await search.fill("Тсетоград");
    await found.filter({ hasText: "Testograd" }).click();
    await page.waitForURL(/city=/);

    await press(page, "Filters");
    await page.getByRole("checkbox", { name: "Лукойл (2)" }).check();
    await press(page, "Show 2 stations");
    await page.waitForURL(/brand=/);
    const shared = new URL(page.url());
    expect(shared.searchParams.get("city")).to.equal("Тестоград");
    expect(shared.searchParams.get("brand")).to.equal("Лукойл");
    // The device knows the filters without an address too.
    await page.goto(`${site.web.baseUrl}/`);
    await page.getByRole("button", { name: "Filters, 1 on" }).waitFor();

    const other = await open(shared.search, desktop);
    await other.page.getByRole("button", { name: "Filters, 1 on" }).waitFor();
    await press(other.page, "List of stations");
    await other.page.getByRole("heading", { name: "2 stations in view" }).waitFor();
    await press(other.page, "Filters, 1 on");
    await other.page.getByRole("heading", { name: "Filters" }).waitFor();
    await isClean(other.page);
    await other.page.goto(`${site.web.baseUrl}/?city=Nowhere&status=yes`);
    await other.page.getByText("There is no city called “Nowhere”.").waitFor();
  });
});
