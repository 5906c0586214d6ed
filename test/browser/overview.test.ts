import { expect } from "chai";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { useMap, stationsInView } from "#test/browser/map-site.ts";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { isClean, openPage, useBrowser, type PageOptions } from "#test/harness/browser.ts";
import { itLong } from "#test/harness/long.ts";

// 60 stations of Тестоград, of which three out of five have data, and a town with one station that has none.
describe("browser: the overview, and a station's last 48 hours", function () {
  useBrowser();
  const site = useMap({
    stations: 61,
    roles: ["marks", "snapshots", "clock"],
    env: { INSIGHTS_MS: "2000" },
  });
  before(async () => {
    const { db } = site.country;
    await rows(
      db,
      `insert into cities (id, source, name, region, lat, lon, population)
       values ('far', 'test', 'Верхнедальнегорск-на-Амуре', 'Дальняя область', 65, 37, 900)`,
    );
    await rows(db, "update stations set lat = 65 where id = ?", [placeOf(60).id]);
    await rows(db, "select feed_stamp(array[?])", [placeOf(60).id]);
    // Days that nobody remembers: the marks of them are gone, what was served is not.
    const insertRuns = `insert into status_runs (station_id, status, from_at, to_at)
       select 'n' || 1000 + n, case when (n + d) % 5 = 0 then 'no' when n % 3 = 0 then 'queue' else 'yes' end,
         server_now() - d * interval '1 day', server_now() - d * interval '1 day' + interval '20 hours'
       from generate_series(0, 59) n cross join generate_series(1, 25) d where n % 5 < 3 and d <> 9
       union all
       select 'n' || 1000 + n, 'nodata', server_now() - d * interval '1 day' + interval '20 hours',
         case when d > 1 then server_now() - (d - 1) * interval '1 day' end
       from generate_series(0, 59) n cross join generate_series(1, 25) d where n % 5 < 3 and d <> 9`;
    // Days that were counted, or are being counted, before the runs stand there are counted again.
    await inTransaction(db, async (tx) => {
      await rows(tx, `select pg_advisory_xact_lock(${lockIds.insightDays})`);
      await rows(tx, insertRuns);
      await rows(tx, "delete from insight_days");
    });
    await rows(
      db,
      `insert into insight_grades (day, looked_at, cities)
       select (server_now() at time zone 'UTC')::date - d, server_now() - d * interval '1 day',
         jsonb_build_object((select id from cities where name = 'Тестоград'),
           array[30, 6, 30 + d, 30 - d, 5, 15, 0, 0, 20, 10 + d])
       from generate_series(0, 25) d where d <> 9
       on conflict (day) do update set looked_at = excluded.looked_at, cities = excluded.cities`,
    );
    const api = createClient(site.web.baseUrl, site.country.secret);
    await api.mark(placeOf(3), "ann", { status: "queue", fuels: ["92"], fuels_no: ["95"] });
    await api.mark(placeOf(5), "bob", { status: "yes", fuels: ["92", "95"] });
    await until(
      () => api.get("/insights/cities"),
      ({ status, body }) =>
        status === 200 && body.total === 2 && body.cities[0].grades[95].share_out === 0.5,
    );
  });

  const open = async (path: string, options: PageOptions = {}) => {
    const opened = await openPage(options);
    await opened.page.goto(site.web.baseUrl + path);
    return opened;
  };

  it("shows a phone in Russian what is out where, and sorts without a script", async () => {
    const phone = { phone: true, width: 360, height: 640, locale: "ru-RU", dark: true };
    const { page, complaints } = await open("/overview", phone);
    await page.getByRole("heading", { name: "Где не хватает топлива", exact: true }).waitFor();
    const tile = page.locator(".tiles li", { hasText: "Без 95" });
    expect((await tile.textContent())?.replace(/\s+/g, " ")).to.include("50 % 1 из 2");
    await isClean(page);
    const first = page.locator("tbody th[scope=row] a").last();
    expect(await first.textContent()).to.include("Верхнедальнегорск");
    await page.getByRole("link", { name: "Город", exact: true }).click();
    await page.locator("th[aria-sort=ascending]").waitFor();
    const names = page.locator(".scroll tbody th[scope=row] a");
    expect(await names.allTextContents()).to.deep.equal([
      "Верхнедальнегорск-на-Амуре",
      "Тестоград",
    ]);
    await names.first().click();
    await page.getByRole("heading", { name: /топлива: Верхнедальнегорск/ }).waitFor();
    await page.getByText("Данных об этих днях пока нет").waitFor();
    await isClean(page);
    expect(complaints).to.deep.equal([]);
  });

  itLong("shows the days of a city as bars and as a table, and goes on paper", async () => {
    const { page, complaints } = await open("/overview?days=7", { width: 1100 });
    await page.getByRole("link", { name: "Тестоград" }).click();
    await page.getByRole("link", { name: "30 days" }).click();
    await page.getByRole("img", { name: /^Bars, a day each/ }).waitFor();
    expect(await page.locator(".chart rect").count()).to.be.within(24, 27);
    await page.getByText("Days as a table").click();
    expect(await page.locator("details tbody tr").count()).to.equal(30);
    await isClean(page);
    await page.getByRole("link", { name: "95", exact: true }).click();
    await page.getByRole("heading", { name: "Without 95, 30 days" }).waitFor();
    const bars = page.getByRole("img", { name: /from 8% to 50% of the stations with data/ });
    await bars.waitFor();
    expect(await bars.locator("rect").count()).to.equal(25);
    await isClean(page);
    await page.getByRole("link", { name: "Whole country" }).click();
    await page.getByRole("heading", { name: "Cities" }).waitFor();
    await isClean(page);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("link", { name: "7 days" }).isVisible()).to.equal(false);
    expect(complaints).to.deep.equal([]);
  });

  it("may be framed by pages of a key's domains, and by nobody else", async () => {
    const ask = async (query: string) => {
      const { status, headers } = await fetch(`${site.web.baseUrl}/overview${query}`);
      return [status, /frame-ancestors (.*)$/.exec(headers.get("content-security-policy")!)![1]];
    };
    expect(await ask("")).to.deep.equal([200, "'none'"]);
    expect(await ask(`?key=${site.key}`)).to.deep.equal([200, "'none'"]);
    expect((await ask(`?embed=1&key=${site.key}`))[1]).to.include("https://*.shop.test:*");
    expect(await ask("?embed=1")).to.deep.equal([401, "*"]);
    const elsewhere = { headers: { Referer: "https://other.test/" } };
    const address = `${site.web.baseUrl}/overview?embed=1&key=${site.key}`;
    expect((await fetch(address, elsewhere)).status).to.equal(403);
    const text = await (await fetch(address)).text();
    expect(text).to.include(`embed=1&amp;key=${site.key}`).and.not.include('href="list');
  });

  itLong("draws a station's last 48 hours on its card, and nothing of none", async () => {
    const phone = { phone: true, width: 360, height: 740 };
    const { lat, lon } = placeOf(4);
    const at = { lat: String(lat), lon: String(lon), zoom: "13", gestures: "greedy" };
    const { page, complaints } = await openPage(phone);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(site.widgetUrl(at));
    await stationsInView(page);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("link", { name: "Where fuel is missing" }).waitFor();
    await page.keyboard.press("Escape");
    await stationsInView(page);
    expect(asked.filter((path) => /history/.test(path))).to.deep.equal([]);
    await page.locator(`[data-id="${placeOf(5).id}"]`).click();
    const strip = page.getByRole("region", { name: "Last 48 hours" });
    await strip.waitFor();
    await strip.getByText("As text").click();
    expect(await strip.getByRole("listitem").first().textContent()).to.match(/^Fuel: .+ – /);
    expect(await strip.getByRole("listitem").count()).to.be.within(4, 6);
    await isClean(page);
    await strip.scrollIntoViewIfNeeded();
    const told = page.waitForResponse(/history/);
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await page.locator(`[data-id="${placeOf(4).id}"]`).click();
    expect((await (await told).json()).runs).to.have.length(1);
    await page.getByText("No data").first().waitFor();
    expect(await strip.count()).to.equal(0);
    expect(complaints).to.deep.equal([]);
  });
});
