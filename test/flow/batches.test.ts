import { expect } from "chai";
import { formatTime } from "#src/domain/time.ts";
import { rows } from "#src/infrastructure/db.ts";
import { placeOf } from "#test/flow/country.ts";
import { expectRefolded, untilProcessed } from "#test/flow/refold.ts";
import { useStage } from "#test/flow/stage.ts";

describe("flow: asynchronous marks", function () {
  const { instance, country, client } = useStage(55, ["web", "marks"], {
    NEW_REPORTERS_DAILY: "100000",
  });
  const at = (n: number) => ({ lat: placeOf(n).lat, lon: placeOf(n).lon });
  const count = async (table: string): Promise<number> =>
    (await rows<{ count: number }>(country.db, `select count(*) as count from ${table}`))[0]!.count;

  it("POST /reports takes 500 marks and answers 202 with an outcome each, in the order sent", async () => {
    const reports = Array.from({ length: 500 }, (_, n) => ({
      station_id: placeOf(n % 40).id,
      user_ref: `crowd-${n}`,
      status: (["yes", "low", "queue"] as const)[n % 3],
      external_id: `crowd-${n}`,
      ...at(n % 40),
    }));
    const answer = await client.post("/reports", { reports });
    expect(answer.status).to.equal(202);
    expect(answer.body.count).to.equal(500);
    expect(answer.headers.get("x-ratelimit-remaining")).to.equal(String(100_000 - 1));
    const listed = answer.body.reports as { report_id: string; published: { outcome: string } }[];
    expect(new Set(listed.map((one) => one.published.outcome))).to.deep.equal(new Set(["queued"]));
    await untilProcessed(country.db);
    const states = await Promise.all(
      listed.slice(0, 20).map((one) => client.get(`/reports/${one.report_id}`)),
    );
    expect(states.map((one) => [one.body.station_id, one.body.state])).to.deep.equal(
      reports.slice(0, 20).map((one) => [one.station_id, "processed"]),
    );
    await expectRefolded(country.db, instance.config);
    const again = await client.post("/reports", { reports: reports.slice(0, 10) });
    expect(
      again.body.reports.map((one: { duplicate: boolean; report_id: string }) => [
        one.duplicate,
        one.report_id,
      ]),
    ).to.deep.equal(listed.slice(0, 10).map((one) => [true, one.report_id]));
  });

  it("lets a bad mark of a batch fail alone, with its problem in its place", async () => {
    const good = { station_id: placeOf(1).id, user_ref: "mixed", status: "yes", ...at(1) };
    const before = await count("marks");
    const { status, body } = await client.post("/reports", {
      reports: [
        good,
        { ...good, status: "low" },
        { ...good, user_ref: "other", status: "maybe" },
        { ...good, user_ref: "other", fuels: ["petrol"] },
        { ...good, user_ref: "other", station_id: "n999999" },
        { ...good, user_ref: "other", lat: null },
        "mark",
      ],
    });
    expect(status).to.equal(202);
    const codes = body.reports.map((one: { error?: { type: string; status: number } }) =>
      one.error === undefined
        ? "stored"
        : `${one.error.status} ${one.error.type.split("/").at(-1)}`,
    );
    expect(codes).to.deep.equal([
      "stored",
      "429 station-cooldown",
      "422 validation-failed",
      "422 bad-grade",
      "404 station-not-found",
      "422 validation-failed",
      "422 validation-failed",
    ]);
    expect(body.reports[2].error.detail[0].loc).to.deep.equal(["body", "reports", 2, "status"]);
    expect(body.reports[1].error.detail).to.match(/Send the next mark in (1200|1[01]\d\d) s\.$/);
    expect(body.reports[2].error.request_id).to.be.a("string");
    expect(await count("marks")).to.equal(before + 1);
  });

  it("refuses a batch that is empty, too long, or no batch", async () => {
    const mark = { station_id: placeOf(1).id, user_ref: "x", status: "yes" };
    for (const body of [
      {},
      { reports: [] },
      { reports: {} },
      { reports: Array.from({ length: 501 }, () => mark) },
      [],
    ]) {
      const answer = await client.post("/reports", body);
      expect([answer.status, answer.body.type?.split("/").at(-1)]).to.deep.equal([
        422,
        "validation-failed",
      ]);
    }
  });

  it("Prefer: wait=0 answers at once, and a longer wait than ours is not promised", async () => {
    const hasty = await client.mark(placeOf(30), "hasty", { status: "yes" }, { Prefer: "wait=0" });
    expect([hasty.status, hasty.headers.get("preference-applied")]).to.deep.equal([202, "wait=0"]);
    const patient = await client.mark(
      placeOf(31),
      "patient",
      { status: "yes" },
      { Prefer: "wait=100" },
    );
    expect([patient.status, patient.headers.get("preference-applied")]).to.deep.equal([200, null]);
  });

  it("GET /reports/{id} knows only reports of the same partner", async () => {
    for (const id of ["1", "0", "abc", "99999999999999999999", "-1"]) {
      const answer = await client.get(`/reports/${id}`);
      expect([answer.status, answer.body.type.split("/").at(-1)], id).to.deep.equal([
        404,
        "report-not-found",
      ]);
    }
  });

  it("X-Dry-Run of a batch gives each mark its verdict after those before it, and stores nothing", async () => {
    const [one, two] = [placeOf(41), placeOf(42)];
    const dayAgo = formatTime(Date.now() - 25 * 3600_000);
    const tables = ["marks", "reporters", "opinions", "mark_keys", "station_status"];
    const before = await Promise.all(tables.map(count));
    const reports = [
      { station_id: one.id, user_ref: "first", status: "yes", external_id: "dry-batch" },
      { station_id: one.id, user_ref: "second", status: "yes", external_id: "dry-batch" },
      { station_id: one.id, user_ref: "first", status: "low" },
      { station_id: one.id, user_ref: "third", status: "maybe" },
      { station_id: two.id, user_ref: "third", status: "low", lat: two.lat, lon: two.lon },
      { station_id: two.id, user_ref: "late", status: "no", observed_at: dayAgo },
    ];
    const dry = await client.post("/reports", { reports }, { "X-Dry-Run": "1" });
    expect([dry.status, dry.body.count]).to.deep.equal([200, 6]);
    const told = dry.body.reports
      .slice(0, 5)
      .map(
        (report: { error?: { status: number }; duplicate: boolean; published: object }) =>
          report.error?.status ?? [report.duplicate, report.published],
      );
    const pending = {
      outcome: "pending",
      status: "nodata",
      resolution_reason: "unconfirmed",
      needed: 2,
      have: 1,
      rule: "remote",
    };
    const published = {
      outcome: "published",
      status: "low",
      resolution_reason: "published",
      needed: 1,
      have: 1,
      rule: "geolocated",
    };
    const repeat = [true, pending];
    expect(told).to.deep.equal([[false, pending], repeat, 429, 422, [false, published]]);
    expect(dry.body.reports[4]).to.deep.include({ report_id: "" });
    expect(dry.body.reports[4].fuel.status).to.equal("low");
    expect(dry.body.reports[5]).to.have.nested.property("published.outcome", "expired");
    expect(await Promise.all(tables.map(count))).to.deep.equal(before);
  });

  it("judges each mark after those before it, as the dry run does, also those of other users", async () => {
    for (const user of ["first of two", "second of two"]) await country.meet(user, 9 * 24 * 60);
    // Out of the reach of the other tests' marks, and 600 m apart.
    const [far, here] = [placeOf(50), placeOf(52)].map(({ id, lat, lon }) => ({
      ...{ station_id: id, lat, lon },
    }));
    const reports = [
      { ...far, user_ref: "first of two", status: "yes" },
      { ...here, user_ref: "first of two", status: "low" },
      { ...here, user_ref: "second of two", status: "no" },
    ];
    const verdicts = async (headers: Record<string, string>) => {
      const { body } = await client.post("/reports", { reports }, headers);
      return body.reports.map((one: { published: object }) => one.published);
    };
    const tried = await verdicts({ "X-Dry-Run": "1" });
    expect(tried[2]).to.include({ rule: "no-nearby-marks", needed: 2, outcome: "pending" });
    expect(await verdicts({ Prefer: "wait=10" })).to.deep.equal(tried);
  });

  it("X-Dry-Run sees a user whose marks have all come too late as one who is new now", async () => {
    const { id } = placeOf(43);
    const mark = { station_id: id, status: "yes" };
    const late = { ...mark, user_ref: "late", observed_at: formatTime(Date.now() - 25 * 3600_000) };
    await client.post("/reports", { reports: [late, { ...mark, user_ref: "somebody" }] });
    const again = { status: "yes", user_ref: "late" };
    const dry = await client.post(`/stations/${id}/report`, again, { "X-Dry-Run": "1" });
    const real = await client.post(`/stations/${id}/report`, again);
    expect(dry.body.published).to.deep.equal(real.body.published);
    expect(real.body.published).to.deep.include({ outcome: "pending", have: 1 });
  });
});
