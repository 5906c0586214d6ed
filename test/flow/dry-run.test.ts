import { expect } from "chai";
import { createClock } from "#src/infrastructure/clock.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import type { IncomingMark } from "#src/domain/admit.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { emptyState, type Mark } from "#src/domain/state.ts";
import { formatTime } from "#src/domain/time.ts";
import { readPendingStatus } from "#api/marks/intake-rows.ts";
import { view } from "#src/domain/view.ts";
import { decideStation, loadStationFacts } from "#src/marks/station-facts.ts";
import { processStations } from "#workers/marks/process.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

const hourMs = 3600_000;

describe("flow: X-Dry-Run", function () {
  const { instance, country, client, page } = useStage(20, ["web", "marks"]);
  const stored = async (): Promise<number> =>
    (await rows<{ count: number }>(country.db, "select count(*) as count from marks"))[0]!.count;
  const dry = (value: string) => ({ "X-Dry-Run": value });
  const mark = { status: "yes" };
  const widgetMark = { device: "dry-device", status: "yes" };

  it("`1` and `true` store nothing, `0` and `false` send a real mark", async () => {
    const one = placeOf(0);
    const before = await stored();
    for (const value of ["1", "true"]) {
      const { status, body } = await client.mark(one, `try-${value}`, mark, dry(value));
      expect([status, body.report_id], value).to.deep.equal([200, ""]);
      const batch = { reports: [{ station_id: one.id, user_ref: "try", ...mark }] };
      const many = await client.post("/reports", batch, dry(value));
      expect([many.status, many.body.reports[0].report_id], value).to.deep.equal([200, ""]);
    }
    expect(await stored()).to.equal(before);
    for (const value of ["0", "false"]) {
      const { status, body } = await client.mark(one, `real-${value}`, mark, dry(value));
      expect(status, value).to.equal(200);
      expect(body.report_id, value).to.match(/^\d+$/);
    }
    const batch = { reports: [{ station_id: one.id, user_ref: "real", ...mark }] };
    expect((await client.post("/reports", batch, dry("false"))).status).to.equal(202);
    expect(await stored()).to.equal(before + 3);
  });

  it("any other value gets a 422 that names the header, before the station's 404, and stores nothing", async () => {
    const before = await stored();
    const batch = { reports: [{ station_id: placeOf(1).id, user_ref: "junk", ...mark }] };
    for (const value of ["2", "TRUE", "yes", "", "1, 1"]) {
      const answers = [
        await client.mark(placeOf(1), "junk", mark, dry(value)),
        await client.mark({ ...placeOf(1), id: "nowhere" }, "junk", mark, dry(value)),
        await client.post("/reports", batch, dry(value)),
        await page.post(`/widget/stations/${placeOf(1).id}/report`, widgetMark, dry(value)),
      ];
      for (const { status, body } of answers) {
        expect(status, value).to.equal(422);
        expect(body.detail[0].loc, value).to.deep.equal(["header", "X-Dry-Run"]);
        expect(body.detail[0].msg).to.equal("Use one of 1, true, 0, false");
      }
    }
    expect(await stored()).to.equal(before);
  });

  it("is for secret keys: 403 for a publishable one, not counted, before every fault of the request", async () => {
    const { headers } = await page.get("/widget/config");
    const left = Number(headers.get("x-ratelimit-daily-remaining"));
    const before = await stored();
    for (const value of ["1", "true"])
      for (const action of ["report", "confirm"])
        for (const [id, body] of [
          [placeOf(2).id, widgetMark],
          ["nowhere", widgetMark],
          [placeOf(2).id, {}],
        ] as const) {
          const answer = await page.post(`/widget/stations/${id}/${action}`, body, dry(value));
          expect([answer.status, answer.body.type.split("/").at(-1)]).to.deep.equal([
            403,
            "secret-key-required",
          ]);
          expect(answer.body.detail).to.include("X-Dry-Run");
          expect(Number(answer.headers.get("x-ratelimit-daily-remaining"))).to.equal(left);
        }
    expect(await stored()).to.equal(before);
    // Where the header means nothing it is ignored, as any other.
    expect((await page.get("/widget/config", dry("1"))).status).to.equal(200);
    const path = `/widget/stations/${placeOf(2).id}/report`;
    expect((await client.post(path, widgetMark, dry("1"))).body.report_id).to.equal("");
    const real = await page.post(path, widgetMark, dry("0"));
    expect([real.status, await stored()]).to.deep.equal([200, before + 1]);
  });

  describe("at a station with 20,000 old marks", () => {
    const place = placeOf(3);

    /** Marks of one reporter each, `minutesAgo` from `first` on, a minute apart, as if they had been processed. */
    const past = (count: number, first: number) =>
      rows(
        country.db,
        `with met as (
           insert into reporters (hash, first_seen)
           select sha256(convert_to(?::text || n, 'UTF8')), server_now() - interval '9 days'
           from generate_series(1, ?::int) as n returning id)
         insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
           processed_at, outcome)
         select next_mark_id(at), ?, id, 'partner', 'yes', at, at, false, 1, 'geolocated', at, 'confirmed'
         from (select id, server_now() - (?::int - row_number() over (order by id) % ?::int) * interval '1 minute' as at
               from met) as m`,
        [`past-${first}-`, count, place.id, first, Math.min(count, 60)],
      );

    const tried = (at: number): Mark => ({
      ...{ id: Number.MAX_SAFE_INTEGER - 1, at, reporterId: -1, status: "no" },
      ...{ remote: true, needed: 2, rule: "remote" },
    });
    const workFor = (at: number) =>
      inTransaction(country.db, async (tx) => {
        const { config } = instance;
        const now = createClock(config)();
        const coming = new Map([[place.id, [tried(at)]]]);
        const { stations } = await loadStationFacts(tx, [place.id], { now, coming }, config);
        return stations[0]!;
      });

    before(async () => {
      await past(5, 3 * 60);
      const { db } = country;
      const touched = `insert into station_status (station_id, refold) values (?, true)
        on conflict (station_id) do update set refold = true`;
      await rows(db, touched, [place.id]);
      const { config } = instance;
      const log = createLog({ logLevel: "silent" }, "test");
      await processStations({ db, config, clock: createClock(config), log }, [place.id]);
      // Folded long ago: nothing of it is alive.
      await past(20_000, 47 * 60);
    });

    it("reads none of them for a mark that sorts last, and those after the last gap for a late one", async () => {
      const now = Date.now();
      const last = await workFor(now);
      expect(last.facts.history).to.equal(null);
      expect(last.facts.opinions).to.have.length(5);
      expect(last.facts.state).to.not.deep.equal(emptyState);
      const late = await workFor(now - 2.99 * hourMs);
      expect(late.facts.history!.marks).to.have.length(5);
    });

    it("reads no more for a widget's confirmation beside a late mark", async () => {
      const { db } = country;
      const now = Date.now();
      const batch = [
        { stationId: place.id, confirms: true, observedAt: null },
        { stationId: place.id, confirms: false, observedAt: now - 2.99 * hourMs },
      ] as IncomingMark[];
      const standing = await inTransaction(db, (tx) =>
        readPendingStatus(tx, batch, now, instance.config),
      );
      const { facts, firstSeen } = standing.get(place.id)!;
      expect(facts.history!.marks).to.have.length(5);
      for (const { reporterId } of facts.history!.marks)
        expect(firstSeen.get(reporterId)).to.be.above(0);
    });

    it("decides the same where the station waits to be folded anew, or cannot be read", async () => {
      const { config } = instance;
      const now = createClock(config)();
      const mark = tried(now - hourMs);
      const decideWith = async (change: string) => {
        const tx = await country.db.transaction();
        try {
          await rows(tx, `update station_status set ${change} where station_id = ?`, [place.id]);
          const coming = new Map([[place.id, [mark]]]);
          const found = await loadStationFacts(tx, [place.id], { now, coming }, config);
          const [one] = found.stations;
          const work = { ...one!, arrivals: { ...one!.arrivals, marks: [mark] } };
          const firstSeen = new Map([...found.firstSeen, [mark.reporterId, now]]);
          const { state, outcomes } = await decideStation(tx, work, firstSeen, now, config);
          return { fuel: view(state, now, config.statusLifetimeMs), outcomes: [...outcomes] };
        } finally {
          await tx.rollback();
        }
      };
      const stored = await decideWith("refold = false");
      expect(stored.fuel.status).to.equal("yes");
      for (const change of [
        "refold = true",
        "refold = true, refold_from = now() - interval '2 hours'",
        "state = '{}'",
      ])
        expect(await decideWith(change), change).to.deep.equal(stored);
    });

    it("gives the verdict that the real mark gets then, also to a late one", async () => {
      for (const [user, ago] of [
        ["now", 0],
        ["late", 2.9 * hourMs],
        ["before-all", 20 * hourMs],
      ] as const) {
        const body = {
          ...{ status: "no", lat: null, lon: null },
          ...(ago === 0 ? {} : { observed_at: formatTime(Date.now() - ago) }),
        };
        const dryRun = await client.mark(place, user, body, dry("true"));
        const real = await client.mark(place, user, body);
        expect(dryRun.body.published, user).to.deep.equal(real.body.published);
        expect(dryRun.body.fuel, user).to.deep.equal(real.body.fuel);
      }
    });
  });
});
