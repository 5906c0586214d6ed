import { connect } from "node:net";
import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { type Answer, createClient, until } from "#test/flow/client.ts";
import { type Place, placeOf } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { useStage } from "#test/flow/stage.ts";

/** Slips of partners' code: none of them may pass unseen (decisions 3.17, 3.18, 5.5, 5.7, 7.14). */
describe("flow: inputs that are not what was meant", function () {
  const { country, web, client } = useStage(60, ["web", "marks"], {
    NEW_REPORTERS_DAILY: "100000",
  });
  let next = 0;

  /** A station that no other test marks. */
  const somewhere = (): Place => placeOf((next += 1));
  const code = ({ status, body }: Answer): string =>
    `${status} ${body?.type?.split("/").at(-1) ?? ""}`.trim();
  const faultsOf = (answer: Answer): string[] => {
    expect(code(answer)).to.equal("422 validation-failed");
    return (answer.body.detail as { loc: string[]; type: string }[]).map(
      ({ loc, type }) => `${loc.join(".")} ${type}`,
    );
  };
  const raw = async (path: string, text: string): Promise<Answer> => {
    const response = await fetch(`${web.baseUrl}/api/v1/partner${path}`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${country.secret}`,
        "Content-Type": "application/json",
      },
      body: text,
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  it("names the query parameters that it ignores, on 200, 304 and errors", async () => {
    const ignored = (answer: Answer) => [answer.status, answer.headers.get("x-ignored-parameters")];
    const area = "/stations?bbox=55,37,55.1,37.1";
    const first = await client.get(`${area}&colour=red&%D1%91=1`);
    expect(ignored(first)).to.deep.equal([200, "colour, %D1%91"]);
    const etag = first.headers.get("etag")!;
    const same = await client.get(`${area}&colour=red`, { "If-None-Match": etag });
    expect(ignored(same)).to.deep.equal([304, "colour"]);
    expect(ignored(await client.get("/stations?colour=red"))).to.deep.equal([422, "colour"]);
    expect(ignored(await client.get("/stations/n0?colour=red"))).to.deep.equal([404, "colour"]);
    expect(ignored(await client.get(area))).to.deep.equal([200, null]);
    const all = await client.get("/stations/all?bbox=1,2,3,4&sort=distance");
    expect(ignored(all)).to.deep.equal([200, "bbox, sort"]);
  });

  it("takes any accuracy of a position from 0 on, and says that a worse one is remote", async () => {
    const { id, lat, lon } = somewhere();
    const mark = (acc_m: number) =>
      client.post(`/stations/${id}/report`, {
        status: "yes",
        user_ref: `acc ${acc_m}`,
        lat,
        lon,
        acc_m,
      });
    const rough = await mark(1e9);
    expect([rough.status, rough.body.remote]).to.deep.equal([200, true]);
    expect(faultsOf(await mark(-1))).to.deep.equal(["body.acc_m greater_than_equal"]);
  });

  it("names the header that is too old, not a parameter that was not sent", async () => {
    const old = { "Last-Event-ID": "2020-01-01 00:00:00" };
    const answer = await client.get("/stations/stream", old);
    expect(code(answer)).to.equal("422 window-too-old");
    expect(answer.body.detail).to.match(/^Last-Event-ID may be at most 48 hours ago/);
  });

  it("names the event that a webhook names twice, and says that a change needs a field", async () => {
    const events = ["key.expiring", "stations.changed", "key.expiring"];
    const twice = await client.post("/webhooks", { url: "https://example.com/", events });
    expect(faultsOf(twice)).to.deep.equal(["body.events.2 unique_items"]);
    expect(faultsOf(await client.patch("/webhooks/1", {}))).to.deep.equal(["body too_short"]);
  });

  it("finds other faults of a request before a city that is not percent-encoded", async () => {
    const { port } = new URL(web.baseUrl);
    const ask = async (query: string): Promise<string> => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(
        `GET /api/v1/partner/stations?${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${country.secret}\r\n\r\n`,
      );
      let said = "";
      for await (const chunk of socket) said += String(chunk);
      return /"type":"[^"]*\/([\w-]+)"/.exec(said)?.[1] ?? said;
    };
    const city = "city=Новосибирск";
    expect(await ask(city)).to.equal("city-not-found");
    expect(await ask(`${city}&bbox=1`)).to.equal("bad-bbox");
    expect(await ask(`fuel=97&${city}`)).to.equal("bad-grade");
    expect(await ask(`fuel[]=95&${city}`)).to.equal("validation-failed");
  });

  for (const [name, known] of [
    ["fuel[]", "fuel"],
    ["fuels", "fuel"],
    ["Status", "status"],
    ["radiusKm", "radius_km"],
  ])
    it(`refuses the parameter ${name} and names ${known}`, async () => {
      const query = `bbox=55,37,55.1,37.1&${encodeURIComponent(name!)}=x`;
      const answer = await client.get(`/stations?${query}`);
      expect(faultsOf(answer)).to.deep.equal([`query.${name} name_spelling`]);
      expect(answer.body.detail[0].ctx).to.deep.equal({ known });
    });

  it("refuses a field in another spelling, in a batch only that mark", async () => {
    const station = somewhere();
    const answer = await client.mark(station, "speller", { status: "yes", "fuels[]": ["95"] });
    expect(faultsOf(answer)).to.deep.equal(["body.fuels[] name_spelling"]);
    const good = { station_id: station.id, user_ref: "speller", status: "yes" };
    const batch = await client.post("/reports", { reports: [{ ...good, Queue: "0-5" }, good] });
    expect(batch.body.reports[0].error.detail[0].loc).to.deep.equal([
      "body",
      "reports",
      0,
      "Queue",
    ]);
    expect(batch.body.reports[1].published.outcome).to.equal("queued");
    const ignored = { status: "low", fuel: "95", colour: "red" };
    expect(code(await client.mark(somewhere(), "speller", ignored))).to.equal("200");
  });

  it("refuses a body with a name that stands twice", async () => {
    const text = '{"status":"yes","user_ref":"twice","status":"no"}';
    const answer = await raw(`/stations/${somewhere().id}/report`, text);
    expect(faultsOf(answer)).to.deep.equal(["body.status repeated"]);
  });

  it("names the element that is wrong", async () => {
    const wrong = async (body: object) => {
      const { detail } = (await client.mark(placeOf(0), "names", { status: "yes", ...body })).body;
      return detail[0].loc ?? detail;
    };
    expect(await wrong({ prices: { 95: "62" } })).to.deep.equal(["body", "prices", "95"]);
    expect(await wrong({ prices: { 92: 50, 95: 0 } })).to.deep.equal(["body", "prices", "95"]);
    expect(await wrong({ prices: { dt: 0.001 } })).to.deep.equal(["body", "prices", "dt"]);
    expect(await wrong({ prices: { dt: 50, ДТ: 50 } })).to.deep.equal(["body", "prices", "ДТ"]);
    expect(await wrong({ fuels: ["92", 95] })).to.deep.equal(["body", "fuels", 1]);
    expect(await wrong({ fuels: ["92", "dt", "ДТ"] })).to.deep.equal(["body", "fuels", 2]);
    expect(await wrong({ fuels: ["92"], fuels_no: ["95", "92"] })).to.deep.equal([
      "body",
      "fuels_no",
      1,
    ]);
    const badGrade = await client.mark(placeOf(0), "names", { status: "yes", fuels_no: ["93"] });
    expect(code(badGrade)).to.equal("422 bad-grade");
    expect(badGrade.body.detail).to.match(/^Unknown fuel grade "93" in fuels_no\. /);
    const badFilter = await client.get("/stations?bbox=55,37,55.1,37.1&fuel=95,93");
    expect(code(badFilter)).to.equal("422 bad-grade");
    expect(badFilter.body.detail).to.match(/^Unknown fuel grade "93" in fuel\. /);
  });

  it("takes null for every optional field, and the booleans of other languages", async () => {
    const asked = { requested_rpm: 5, requested_daily: 5, comment: null };
    const request = await client.post("/limit-requests", asked);
    expect([request.status, request.body.comment]).to.deep.equal([201, ""]);
    const nulls = { fuels: null, prices: null, text: null, external_id: null, express: null };
    expect(code(await client.mark(somewhere(), "nulls", { status: "yes", ...nulls }))).to.equal(
      "200",
    );
    const priced = await client.get("/stations?bbox=55,37,55.1,37.1&has_price=True");
    expect([priced.status, priced.body.count]).to.deep.equal([200, 0]);
  });

  describe("of an external_id that was used before", () => {
    const body = {
      status: "yes",
      fuels: ["95", "dt"],
      prices: { 95: 61.5 },
      limit_l: null,
      text: "",
      observed_at: new Date(Date.now() - 60_000).toISOString(),
    };
    const send = (place: Place, user: string, more: object = {}, headers = {}): Promise<Answer> =>
      client.mark(place, user, { ...body, external_id: `${place.id}-1`, ...more }, headers);

    it("tells the first mark, and that the body is the same", async () => {
      const place = somewhere();
      const first = await send(place, "repeats");
      expect(first.body).not.to.have.property("duplicate_of");
      const again = await send(place, "repeats", { fuels: ["ДТ", "95"], colour: "red" });
      expect([again.status, again.body.duplicate]).to.deep.equal([200, true]);
      expect(again.body.duplicate_of).to.deep.equal({
        report_id: first.body.report_id,
        station_id: place.id,
        status: "yes",
        same_body: true,
      });
    });

    it("tells when anything in the body is another", async () => {
      const place = somewhere();
      await send(place, "changes");
      for (const change of [
        { status: "no" },
        { fuels: ["95"] },
        { prices: { 95: 61.6 } },
        { limit_l: 20 },
        { limit_l: undefined },
        { text: "x" },
        { lat: place.lat + 0.0001 },
        { observed_at: null },
        { no_cash: false },
      ]) {
        const again = await send(place, "changes", change);
        expect(again.body.duplicate_of?.same_body, JSON.stringify(change)).to.equal(false);
      }
      expect((await send(place, "somebody else")).body.duplicate_of.same_body).to.equal(false);
      const elsewhere = { ...somewhere(), ...{ lat: place.lat, lon: place.lon } };
      const there = await send(elsewhere, "changes", { external_id: `${place.id}-1` });
      expect(there.body.duplicate_of).to.include({ station_id: place.id, same_body: false });
    });

    it("does not compare what is cleared of the first mark since", async () => {
      const place = somewhere();
      const first = await send(place, "cleared", { text: "near the shop" });
      const cleared = "lat = null, lon = null, acc_m = null, comment = null";
      await rows(country.db, `update marks set ${cleared} where id = ?`, [first.body.report_id]);
      await rows(country.db, "insert into cleared_days (day) select server_now()::date");
      const again = await send(place, "cleared", { text: "near the shop" });
      const other = await send(place, "cleared", { fuels: ["98"] });
      await rows(country.db, "delete from cleared_days");
      expect(again.body.duplicate_of.same_body).to.equal(true);
      expect(other.body.duplicate_of.same_body).to.equal(false);
    });

    it("does not tell it of the same opinion sent again without an id", async () => {
      const place = somewhere();
      await client.mark(place, "opinion", { status: "yes" });
      const again = await client.mark(place, "opinion", { status: "yes" });
      expect(again.body.duplicate).to.equal(true);
      expect(again.body).not.to.have.property("duplicate_of");
    });

    it("tells it in batches and dry runs", async () => {
      const [place, other] = [somewhere(), somewhere()];
      const item = { station_id: place.id, user_ref: "tries", status: "yes", external_id: "tried" };
      const dry = await client.post(
        "/reports",
        { reports: [item, { ...item, station_id: other.id }] },
        { "X-Dry-Run": "1" },
      );
      expect(dry.body.reports[1].duplicate_of).to.deep.equal({
        ...{ report_id: "", station_id: place.id, status: "yes", same_body: false },
      });
      const sent = await client.post("/reports", { reports: [item, item] });
      const [first, second] = sent.body.reports;
      expect(second.duplicate_of).to.deep.equal({
        ...{ report_id: first.report_id, station_id: place.id, status: "yes", same_body: true },
      });
      const again = await client.post("/reports", { reports: [item] }, { "X-Dry-Run": "1" });
      expect(again.body.reports[0].duplicate_of).to.include({
        ...{ report_id: first.report_id, same_body: true },
      });
    });
  });

  describe("batches", () => {
    it("say how long to wait with the marks that were refused for a while", async () => {
      const place = somewhere();
      const mark = { station_id: place.id, user_ref: "hurries", status: "yes" };
      const { body } = await client.post("/reports", {
        reports: [mark, { ...mark, status: "low" }, { ...mark, status: "maybe" }],
      });
      expect(body.reports[0]).not.to.have.property("retry_after");
      expect(body.reports[1].error.status).to.equal(429);
      expect(body.reports[1].retry_after).to.be.within(1100, 1200);
      expect(body.reports[2].error.status).to.equal(422);
      expect(body.reports[2]).not.to.have.property("retry_after");
    });

    it("answer with the outcomes that Prefer: wait asks for, and at once without it", async () => {
      const batch = () => {
        const { id, lat, lon } = somewhere();
        const mark = { station_id: id, user_ref: "waits", status: "low", lat, lon };
        return { reports: [mark, { ...mark, user_ref: "waits too", status: "maybe" }] };
      };
      const waited = await client.post("/reports", batch(), { Prefer: "wait=10" });
      expect([waited.status, waited.headers.get("preference-applied")]).to.deep.equal([
        202,
        "wait=10",
      ]);
      expect(waited.body.reports[0].published).to.include({ outcome: "published", status: "low" });
      expect(waited.body.reports[1].error.status).to.equal(422);
      for (const headers of [{}, { Prefer: "respond-async" }, { Prefer: "wait=0" }]) {
        const { body } = await client.post("/reports", batch(), headers as Record<string, string>);
        expect(body.reports[0].published.outcome, JSON.stringify(headers)).to.equal("queued");
      }
    });
  });

  describe("GET /reports?ids=", () => {
    it("tells what became of many marks, in the order asked for", async () => {
      const places = [somewhere(), somewhere(), somewhere()];
      const marks = await Promise.all(
        places.map((place) => client.mark(place, `many ${place.id}`, { status: "yes" })),
      );
      const ids = marks.map(({ body }) => body.report_id as string).reverse();
      const asked = await until(
        () => client.get(`/reports?ids=${ids.join()},nonsense,1,${ids[0]}`),
        ({ body }) => body.reports[0].state === "processed",
      );
      expect([asked.status, asked.body.count]).to.deep.equal([200, 6]);
      const [, , , nonsense, unknown, again] = asked.body.reports;
      for (const [i, id] of ids.entries()) {
        const one = await client.get(`/reports/${id}`);
        expect(asked.body.reports[i]).to.deep.equal(one.body);
        expect(one.body.station_id).to.equal(places.toReversed()[i]!.id);
      }
      expect(again).to.deep.equal(asked.body.reports[0]);
      expect([nonsense.report_id, unknown.report_id]).to.deep.equal(["nonsense", "1"]);
      for (const { error } of [nonsense, unknown]) expect(error.type).to.match(/report-not-found$/);
    });

    it("shows no other partner's marks", async () => {
      const mine = await client.mark(somewhere(), "mine", { status: "yes" });
      const { secret } = await addPartner(country);
      const stranger = createClient(web.baseUrl, secret);
      const { body } = await stranger.get(`/reports?ids=${mine.body.report_id}`);
      expect(body.reports[0]).to.have.property("error");
    });

    it("takes 500 ids, and refuses 501 and none", async () => {
      const list = (count: number) => Array.from({ length: count }, (_, n) => n).join();
      expect((await client.get(`/reports?ids=${list(500)}`)).body.count).to.equal(500);
      expect(faultsOf(await client.get(`/reports?ids=${list(501)}`))).to.deep.equal([
        "query.ids too_long",
      ]);
      expect(faultsOf(await client.get("/reports?ids=,"))).to.deep.equal(["query.ids too_short"]);
      expect(faultsOf(await client.get("/reports"))).to.deep.equal(["query.ids missing"]);
    });
  });

  describe("a bbox with the longitudes first", () => {
    const detail = async (bbox: string, as: "secret" | "publishable" = "secret") => {
      const url = `${web.baseUrl}/api/v1/partner/stations?bbox=${bbox}`;
      const response = await fetch(url, {
        headers: { Authorization: `Bearer ${country[as]}` },
      });
      const body = (await response.json()) as { detail?: string; count?: number };
      return body.detail ?? body.count;
    };

    it("is told so when its latitudes are none", async () => {
      expect(await detail("92.8,55.9,93.1,56.1")).to.match(
        /longitudes first: send 55.9,92.8,56.1,93.1\.$/,
      );
      expect(await detail("192.8,55.9,193.1,56.1")).not.to.match(/longitudes first/);
      expect(await detail("56,37,55,38")).not.to.match(/longitudes first/);
    });

    it("is told so when only the other order lies in the country", async () => {
      expect(await detail("36.9,54.9,37.1,55.2")).to.match(
        /longitudes first: send 54.9,36.9,55.2,37.1\.$/,
      );
      expect(await detail("54.9,36.9,55.2,37.1"))
        .to.be.a("number")
        .above(50);
      expect(await detail("10,10,11,11")).to.equal(0);
      // A map that was moved there, and not the code of a partner.
      expect(await detail("36.9,54.9,37.1,55.2", "publishable")).to.equal(0);
    });
  });
});
