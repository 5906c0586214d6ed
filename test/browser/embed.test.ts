import { expect } from "chai";
import type { Page } from "playwright-core";
import { addKey, bearer } from "#test/api/edge.ts";
import { issueConsumerKey } from "#src/keys/consumer-key.ts";
import { closeIncident, openIncident } from "#src/alarms/service/incidents.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { by } from "#test/harness/by.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createClient, until } from "#test/flow/client.ts";
import { useMap, withoutWebgl } from "#test/browser/map-site.ts";
import { isClean, openPage, useBrowser } from "#test/harness/browser.ts";
import { itLong, windowsTried } from "#test/harness/long.ts";

describe("browser: embedding the map", function () {
  useBrowser();
  const site = useMap({ stations: 20 });

  const open = (page: Page, key = site.key) =>
    page.goto(`${site.web.baseUrl}/widget/embed?key=${encodeURIComponent(key)}`);
  const listening = "window.told = []; addEventListener('message', ({ data }) => told.push(data));";
  /** What the map has told the page around it, of that type. */
  const toldTo = (page: Page) => (type: string) =>
    page.evaluate<Record<string, unknown>[]>(
      `told.filter(({ type }) => type === "fuelmark:${type}")`,
    );
  const heightTold = async (page: Page) =>
    Number((await toldTo(page)("height")).at(-1)?.["height"] ?? 0);
  const line = (page: Page) => page.getByRole("region", { name: "The line" }).locator("pre code");

  it("makes a line of what is chosen, and shows the map that the line gives", async () => {
    const { page, complaints, requests } = await openPage();
    await open(page);
    await page.getByText("shop.test", { exact: true }).waitFor();
    expect(new URL(page.url()).search).to.equal("");
    await page.getByLabel("a city").check();
    await page.getByRole("textbox", { name: "City" }).fill("Тестоград");
    await page.getByLabel("Theme at the start").selectOption("dark");
    await page.getByLabel("Filter at the start").selectOption("ДТ");
    await page.getByLabel("Wheel and one finger").selectOption("greedy");
    for (const name of ["Hide the filters", "Hide search", "Lock the theme"])
      await page.getByLabel(name).check();
    await page.getByLabel("Height").fill("420");
    await page.getByLabel("Language").selectOption("ru");
    await page.getByLabel("Colour of buttons").fill("#C0FFE");
    await page.getByText("Six hexadecimal digits").waitFor();
    await isClean(page);
    await page.getByLabel("Colour of buttons").fill("#C0FFEE");
    const address = `/widget/?key=${site.key}&city=${encodeURIComponent("Тестоград")}&theme=dark&fuel=${encodeURIComponent("ДТ")}&nofilter=1&nosearch=1&themelock=1&gestures=greedy&lang=ru&accent=c0ffee`;
    const text = (await line(page).textContent())!;
    expect(text).to.include(address.replaceAll("&", "&amp;")).and.to.include('height="420"');
    const frame = page.locator(`iframe[src$="${address}"]`);
    await frame.waitFor();
    await frame.contentFrame().getByRole("region", { name: "Карта заправочных станций" }).waitFor();
    expect(await frame.contentFrame().getByRole("button", { name: "Фильтры" }).count()).to.equal(0);
    expect(await frame.contentFrame().getByRole("combobox", { name: "Поиск" }).count()).to.equal(0);
    expect(complaints).to.deep.equal([]);
    const foreign = requests.filter((url) => !url.startsWith("data:"));
    expect(foreign.filter((url) => !url.startsWith(`${site.web.baseUrl}/`))).to.deep.equal([]);
  });

  it("opens on a city by a short form that its whole name contains", async () => {
    const [lat, lon] = [56.84, 60.6];
    await rows(
      site.country.db,
      `with made as (
         insert into cities (id, source, name, region, lat, lon, population)
         values ('short', 'test', 'Екатеринбург', 'Урал', ?, ?, 900) returning id)
       select pg_notify('cities', id) from made`,
      [lat, lon],
    );
    const client = createClient(site.web.baseUrl, site.country.secret);
    await until(
      async () => (await client.get("/cities?q=екат")).body.total as number,
      (total) => total === 1,
    );
    const { page, requests } = await openPage();
    await page.goto(site.widgetUrl({ city: "екат" }));
    const isAsked = (url: string): boolean => {
      const box = /\/stations\?bbox=([^&]+)/.exec(decodeURIComponent(url))?.[1]?.split(",");
      const [south, west, north, east] = (box ?? []).map(Number);
      return south! < lat && lat < north! && west! < lon && lon < east! && north! - south! < 5;
    };
    await until(
      () => Promise.resolve(requests.some(isAsked)),
      (isThere) => isThere,
    );
  });

  itLong("warns of a city that there is not, and offers those of that beginning", async () => {
    const { page } = await openPage();
    await open(page);
    await page.getByLabel("a city").check();
    const city = page.getByRole("textbox", { name: "City" });
    await city.fill("Нигдеград");
    await page.getByText("No city is called that").waitFor();
    await page.getByText("can be copied when the city is known").waitFor();
    await city.fill("тестог");
    await page.getByRole("button", { name: "Тестоград" }).click();
    expect(await city.inputValue()).to.equal("Тестоград");
    await page.getByText("can be copied when the city is known").waitFor({ state: "detached" });
  });

  itLong("says whether the key is good for the partner's website", async () => {
    const { page } = await openPage();
    await open(page);
    const website = page.getByLabel("Your website");
    for (const host of ["www.shop.test", "https://shop.test/map", "SHOP.test."]) {
      await website.fill(host);
      await page.getByText("✓ The key is bound to this website.").waitFor();
    }
    for (const host of ["notshop.test", "shop.test.evil.test"]) {
      await website.fill(host);
      await page.getByText("on this website the map would not be shown").waitFor();
    }
  });

  itLong("warns of keys that no map can have, and sends a secret key nowhere", async () => {
    const { db, partnerId, secret } = site.country;
    const { page, requests } = await openPage();
    const unbound = await addKey(db, partnerId, "publishable", { domains: [], reports: false });
    await open(page, "");
    const field = page.getByLabel("Publishable key");
    await field.fill(secret);
    await page.getByText("This is a secret key").waitFor();
    expect(await line(page).textContent()).not.to.include("svc_live_");
    const copy = page.getByRole("button", { name: "Copy the line" });
    expect(await copy.count()).to.equal(0);
    await field.fill("pk_live_wrong");
    await page.getByText("This key is not valid").waitFor();
    await page.getByText("can be copied when the key is valid").waitFor();
    expect(await copy.count()).to.equal(0);
    await field.fill("ключ");
    await page.getByText("This key is not valid").waitFor();
    await field.fill(unbound);
    await page.getByText("The key is bound to no domain yet").waitFor();
    await page.getByText("Drivers cannot mark stations on this map").waitFor();
    await copy.waitFor();
    expect(JSON.stringify(requests)).not.to.include(secret);
    const stored = JSON.stringify(await page.context().storageState());
    expect(stored).to.include(unbound).and.not.include(secret).and.not.include("pk_live_wrong");
  });

  itLong("remembers good keys, takes the one of the dashboard's link, and forgets", async () => {
    const { db, partnerId } = site.country;
    const other = await addKey(db, partnerId, "publishable", { domains: ["other.test"] });
    const prefix = site.key.slice(0, 12);
    const { page } = await openPage();
    const enter = (query: string) => page.goto(`${site.web.baseUrl}/widget/embed${query}`);
    const field = page.getByLabel("Publishable key");
    await enter(`?prefix=${prefix}`);
    await page.getByText(`Put in the key that begins with ${prefix}`).waitFor();
    await field.fill(site.key);
    await page.getByText(`Key ${prefix}…, remembered in this browser.`).waitFor();
    await field.fill(other);
    await page.getByText("other.test", { exact: true }).waitFor();
    await enter(`?prefix=${prefix}`);
    expect(await field.inputValue()).to.equal(site.key);
    await page.getByLabel("Keys in this browser").selectOption(other);
    await page.getByText("other.test", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByText(`Key ${prefix}…, remembered in this browser.`).waitFor();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await enter("");
    expect(await field.inputValue()).to.equal("");
  });

  itLong("shows the operator's own map as a sample, and a line for people", async () => {
    await issueConsumerKey(site.country.db, site.instance.config);
    const { page, complaints } = await openPage();
    await until(
      async () => {
        await page.goto(`${site.web.baseUrl}/widget/embed`);
        return page.getByRole("button", { name: "Show a sample" }).count();
      },
      (count) => count === 1,
    );
    // Nobody has asked for the map yet.
    expect(await page.locator("iframe").count()).to.equal(0);
    await page.getByRole("button", { name: "Show a sample" }).click();
    await page.getByLabel("Language").selectOption("ru");
    const frame = page.locator('iframe[src$="/?lang=ru"]');
    await frame.contentFrame().getByRole("region", { name: "Карта заправочных станций" }).waitFor();
    await page.getByText("the operator’s own map as a sample").waitFor();
    expect(await line(page).textContent()).to.include("?key=pk_live_…&amp;lang=ru");
    expect(await page.getByRole("button", { name: "Copy the line" }).count()).to.equal(0);
    expect(complaints).to.deep.equal([]);
  });

  it("opens the station of its address, does what the page around asks, and nobody else, and tells", async () => {
    const { page, complaints, requests } = await openPage();
    await page.addInitScript(listening);
    await page.addInitScript(`addEventListener("message", ({ data: { type, height } }) => {
      if (type === "fuelmark:height" && height > 0)
        document.querySelector("iframe").style.height = height + 200 + "px";
    })`);
    await page.goto(site.pageOn("shop.test", { station: "n1003", lang: "en" }));
    const map = page.locator("iframe").first().contentFrame();
    const told = toldTo(page);
    const ask = (message: object) =>
      page.evaluate(`frames[0].postMessage(${JSON.stringify(message)}, "*")`);
    await until(
      () => told("ready"),
      (some) => some.length === 1,
    );
    const [first] = await until(
      () => told("station-opened"),
      (some) => some.length === 1,
    );
    expect(first).to.include({ station_id: "n1003" });
    /** The height of the panel, which is told and has room in the frame. */
    const fitting = async (): Promise<number> => {
      const [, is] = await until(
        async () => [await heightTold(page), (await map.locator(".panel").boundingBox())!.height],
        ([said, is]) => Math.abs(said! - is!) <= 1,
      );
      return is!;
    };
    const shut = await fitting();
    // No element comes with it.
    await map.getByText("Other maps").click();
    await until(fitting, (open) => open > shut + 20);
    await ask({ type: "fuelmark:open-station", station_id: "n1005" });
    const opened = await until(
      () => told("station-opened"),
      (some) => some.length === 2,
    );
    expect(opened[1]).to.include({ station_id: "n1005" });
    await ask({ type: "fuelmark:open-station", station_id: "n999999" });
    const [unknown] = await until(
      () => told("station-unknown"),
      (some) => some.length === 1,
    );
    expect(unknown).to.include({ station_id: "n999999" });
    await ask({ type: "fuelmark:set-fuel", fuel: "98" });
    await map.getByRole("button", { name: "98", exact: true, pressed: true }).waitFor();
    // Another frame of the same page is not the page.
    await page.evaluate(`(() => {
      const other = document.body.appendChild(document.createElement("iframe"));
      const script = other.contentDocument.createElement("script");
      script.textContent = "parent.frames[0].postMessage({ type: 'fuelmark:set-fuel', fuel: '92' }, '*')";
      other.contentDocument.body.append(script);
    })()`);
    await ask({ type: "fuelmark:move", lat: 10, lon: 10, zoom: 12 });
    await until(
      () =>
        Promise.resolve(
          requests.some((url) => /\/stations\?bbox=(9\.\d+|10[.\d]*),(9\.\d+|10[.\d]*),/.test(url)),
        ),
      (isThere) => isThere,
    );
    expect(await map.getByRole("button", { name: "98", pressed: true }).count()).to.equal(1);
    await map.getByRole("button", { name: "Close" }).click();
    await until(
      () => told("height"),
      (some) => some.at(-1)?.["height"] === 0,
    );
    // In the other language it still knows the page around.
    await map.getByRole("button", { name: "More" }).click();
    await map.getByRole("link", { name: "Русский" }).click();
    await until(
      () => told("ready"),
      (some) => some.length === 2,
    );
    await ask({ type: "fuelmark:set-fuel", fuel: "92" });
    await map.getByRole("button", { name: "92", exact: true, pressed: true }).waitFor();
    await map.getByRole("button", { name: "Ещё" }).waitFor();
    expect(complaints.filter((said) => !said.includes("404"))).to.deep.equal([]);
  });

  itLong(
    "tells how high its list is where there is no map, however high the frame is",
    async () => {
      const { page } = await openPage();
      await page.addInitScript(listening);
      await page.addInitScript(withoutWebgl);
      await page.goto(site.pageOn("shop.test", { lang: "en" }));
      await page.evaluate("document.querySelector('iframe').style.height = '3000px'");
      const panel = page.locator("iframe").contentFrame().locator(".panel");
      await panel.locator(".station-row").first().waitFor();
      await until(
        async () => {
          const { y } = (await panel.boundingBox())!;
          const last = (await panel.locator(".panel-body > :last-child").boundingBox())!;
          return (await heightTold(page)) - (last.y + last.height - y);
        },
        (more) => more >= 0 && more < 40,
      );
    },
  );

  itLong("says in one line on the map what incident is open", async () => {
    const act = by(site.country.db, "olga");
    const told = { title: "Marks wait", title_ru: "Отметки ждут", text: "We look into it." };
    const opened = await openIncident(act, { ...told, feeds: ["marks"] });
    if (isRefusal(opened)) throw new Error(opened.code);
    const { page } = await openPage({ locale: "ru-RU" });
    const line = page.locator("iframe").contentFrame().getByRole("link", { name: "Отметки ждут" });
    const config = `${site.web.baseUrl}/api/v1/partner/widget/config`;
    await until(
      async () => (await fetch(config, { headers: bearer(site.country.secret) })).text(),
      (text) => text.includes("Marks wait"),
    );
    await page.goto(site.pageOn("shop.test"));
    await line.waitFor();
    expect(await line.getAttribute("href")).to.equal(`${site.web.baseUrl}/status`);
    await closeIncident(act, { text: "Mended." }, opened.id);
  });

  itLong("says in a frame whose sandbox keeps the map's files out what it needs", async () => {
    const { page } = await openPage();
    const needs = page.locator("iframe").contentFrame().getByText("allow-same-origin");
    await page.goto(site.pageOn("shop.test", { sandbox: "allow-scripts" }));
    await needs.waitFor();
    await page.goto(site.pageOn("shop.test", { sandbox: "allow-scripts allow-same-origin" }));
    await page.locator("iframe").contentFrame().getByRole("main").waitFor();
    expect(await needs.isVisible()).to.equal(false);
  });

  it("is served under a policy that lets nothing in but itself", async () => {
    const answer = await fetch(`${site.web.baseUrl}/widget/embed`);
    const policy = answer.headers.get("Content-Security-Policy")!;
    expect(policy).to.include("default-src 'none'").and.to.include("frame-src 'self'");
    expect(policy).to.include("frame-ancestors 'none'");
    expect(policy).not.to.match(/unsafe|blob:|\*|https?:/);
    const slash = await fetch(`${site.web.baseUrl}/widget/embed/`);
    expect([slash.url, slash.status]).to.deep.equal([`${site.web.baseUrl}/widget/embed`, 200]);
  });

  for (const [width, dark] of windowsTried) {
    itLong(`has no accessibility fault at ${width} px, ${dark ? "dark" : "light"}`, async () => {
      const { page } = await openPage({ width, dark });
      await open(page);
      await page.getByText("shop.test", { exact: true }).waitFor();
      await page.getByLabel("a point").check();
      await page.getByLabel("Latitude").fill("95");
      await page.getByLabel("Longitude").fill("37");
      await page.locator("iframe").contentFrame().getByRole("main").waitFor();
      await isClean(page);
    });
  }
});
