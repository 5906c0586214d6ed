import { expect } from "chai";
import { pino } from "pino";
import { createClient, until } from "#test/flow/client.ts";
import { startWorker } from "#test/harness/roles.ts";
import { writeChances } from "#test/flow/chances.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { useEdgeOn } from "#test/api/edge.ts";

describe("api: the list page, and the page about privacy", () => {
  const { instance, country } = useStage(130, []);

  before(async () => {
    await country
      .db("stations")
      .where({ id: placeOf(0).id })
      .update({ name: `<script>alert("x")</script>` });
    // So near to each other that more than a page of them are of the city.
    await country.db("stations").update({ lat: country.db.raw("55 + (lat - 55) / 4") });
  });
  const edge = useEdgeOn(instance, { log: pino({ level: "silent" }) });

  const open = async (query: string, language = "en", path = "/list") => {
    const response = await fetch(`${edge.origin}${path}${query}`, {
      headers: { "Accept-Language": language },
    });
    return {
      status: response.status,
      policy: response.headers.get("content-security-policy")!,
      text: await response.text(),
    };
  };

  it("lists a city's stations without a key, nearest first, with names as text", async () => {
    const { status, text } = await open("?city=тестоград&status=any");
    expect(status).to.equal(200);
    expect(text).to.include("Where is fuel?").and.include("130 stations, by distance 1 to 100");
    expect(text)
      .to.include("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;")
      .and.not.include("<script");
    expect(text.match(/<li class="nodata"/g)).to.have.length(100);
  });

  it("has the farther ones on further pages, and leads there and back", async () => {
    const first = (await open("?city=тестоград&status=any")).text;
    const [, next = ""] = /<a class="page" href="([^"]*)">Next</.exec(first) ?? [];
    const second = (await open(next.replaceAll("&amp;", "&"))).text;
    expect(second).to.include("by distance 101 to 130");
    expect(second.match(/<li class="nodata"/g)).to.have.length(30);
    expect(second).to.include(">Back</a>").and.not.include(">Next</a>");
    expect(first).not.to.include(">Back</a>");
    expect((await open("?page=99&status=any")).text).to.include("No stations match");
  });

  it("shows at first those that have fuel", async () => {
    expect((await open("?city=тестоград")).text).to.include("No stations match");
  });

  it("speaks Russian to a Russian browser, and what lang says first of all", async () => {
    expect((await open("", "ru-RU,ru;q=0.9,en;q=0.8")).text).to.include("Где есть топливо?");
    expect((await open("?lang=en", "ru")).text).to.include("Where is fuel?");
  });

  it("filters by status, and falls back quietly from values that it does not know", async () => {
    expect((await open("?status=yes")).text).to.include("No stations match");
    expect((await open("?status=%22%3E&fuel=petrol&page=-1&city=%00")).text).to.include(
      "No stations match",
    );
  });

  it("says that a station is closed now, and does not miss a grade that it never sells", async () => {
    const { id } = placeOf(1);
    const { secret, db } = country;
    const facts = { grades_sold: "92,95", opening_hours: "off" };
    await db("stations").where({ id }).update(facts);
    await db.raw("select feed_stamp(array[?])", [id]);
    const client = createClient(edge.origin, secret);
    const stop = await startWorker("marks", instance.config);
    await client.mark(placeOf(1), "driver", { status: "low", fuels_no: ["95", "98"] });
    const read = (): Promise<{ text: string }> => open("?status=low", "ru");
    const { text } = await until(read, (one) => one.text.includes('<li class="low"'));
    expect(text)
      .to.include("Сейчас закрыто")
      .and.to.match(/Нет 95(?!,)/);
    expect((await open("?status=low")).text).to.include("Closed now");
    await stop();
  });

  it("counts of the stations that may have the fuel, as the map does", async () => {
    const { secret, db } = country;
    const [without, seen] = [placeOf(4).id, placeOf(0).id];
    await db("stations").whereIn("id", [without, seen]).update({ grades_sold: "92" });
    await db.raw("select feed_stamp(?::text[])", [[without, seen]]);
    const stop = await startWorker("marks", instance.config);
    await createClient(edge.origin, secret).mark(placeOf(0), "seer", {
      ...{ status: "yes", fuels: ["100"] },
    });
    const read = (): Promise<{ text: string }> => open("?fuel=100");
    const { text } = await until(read, (one) => one.text.includes('<li class="yes"'));
    // Station 1 has been said to sell 92 and 95.
    expect(text).to.include("1 of 128 have 100");
    await stop();
  });

  it("says how likely a station has fuel, and lists the likely ones whatever their status", async () => {
    const [likely, unlikely] = [placeOf(2).id, placeOf(3).id];
    await writeChances(
      country.db,
      new Map([
        [likely, 85],
        [unlikely, 15],
      ]),
    );
    const { text } = await until(
      () => open("?status=likely"),
      (one) => one.text.includes("<li"),
    );
    expect(text.match(/<li/g)).to.have.length(1);
    expect(text).to.include("Likely has fuel (85%)");
    expect((await open("?status=nodata")).text).to.include("Unlikely to have fuel (15%)");
    const russian = (await open("?status=likely", "ru")).text;
    expect(russian).to.include("Скорее всего есть топливо (85\u00a0%)");
  });

  it("says that there is no such city, and whose stations it shows instead", async () => {
    const nowhere = (await open("?city=%3Cb%3ENowhere")).text;
    expect(/role="alert">([^<]*)</.exec(nowhere)?.[1]).to.equal(
      "There is no city called “&lt;b&gt;Nowhere”. These are the stations of Тестоград.",
    );
    expect((await open("?city=тестоград")).text).not.to.include("no city called");
    expect((await open("")).text).not.to.include("no city called");
  });

  it("is found with a slash at its end as well, as the other pages are", async () => {
    for (const path of ["/list", "/docs", "/status", "/problems", "/overview", "/privacy"]) {
      const response = await fetch(`${edge.origin}${path}/`);
      expect([path, response.status, new URL(response.url).pathname]).to.deep.equal([
        ...[path, 200, path],
      ]);
    }
  });

  it("says what is kept of drivers, in their language and with the days of this instance", async () => {
    for (const [language, words] of [
      ["ru-RU,en;q=0.5", ["Конфиденциальность", "через 30 дн.", "через 400 дн."]],
      ["de", ["Privacy", "after 30 days", "after 400 days"]],
    ] as const) {
      const { status, policy, text } = await open("", language, "/privacy");
      expect(status).to.equal(200);
      expect(policy).to.include("default-src 'none'").and.not.include("unsafe");
      expect(text.match(/<dt>/g)).to.have.length(8);
      for (const word of words) expect(text).to.include(word);
    }
    expect((await open("?lang=ru", "en", "/privacy")).text).to.include("Как стереть");
  });

  it("answers an address that is not there with a page for browsers, and a problem for programs", async () => {
    const at = (path: string, accept: string, language = "en") =>
      fetch(`${edge.origin}${path}`, { headers: { Accept: accept, "Accept-Language": language } });
    const asBrowser = "text/html,application/xhtml+xml,*/*;q=0.8";
    const page = await at("/no/such/page", asBrowser, "ru");
    expect([page.status, page.headers.get("content-language")]).to.deep.equal([404, "ru"]);
    expect(await page.text())
      .to.include("Такой страницы нет")
      .and.include('href="../../list"');
    expect(await (await at("/nope", asBrowser)).text()).to.include('href="./"');
    for (const [path, accept, status] of [
      ["/nope", "*/*", 404],
      ["/nope", "application/json", 404],
      // Without a key.
      ["/api/v1/partner/nope", asBrowser, 401],
    ] as const) {
      const problem = await at(path, accept);
      expect([path, problem.status, problem.headers.get("content-type")]).to.deep.equal([
        ...[path, status, "application/problem+json"],
      ]);
    }
  });

  it("runs no script and asks no other host", async () => {
    const { policy, text } = await open("");
    expect(policy)
      .to.match(/^default-src 'none'; style-src 'sha256-[^']+';/)
      .and.not.include("unsafe");
    // A route is followed only by whoever presses it.
    expect(text.replaceAll(/<a class="route" href="[^"]*"/g, "")).to.not.match(/https?:\/\//);
  });

  it("leads to the map where no cities were imported", async () => {
    await country.db("cities").delete();
    await country.db.raw("select pg_notify('cities', '')");
    const { text } = await until(
      () => open(""),
      (page) => !page.text.includes("Тестоград"),
    );
    expect(text)
      .to.include("There is no list of cities yet.")
      .and.include('<a href="./?lang=en">To the map</a>');
  });
});
