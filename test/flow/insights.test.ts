import { expect } from "chai";
import { createReadModel } from "#snapshots/model/model.ts";
import { loadCityRows } from "#snapshots/cities.ts";
import { cityFinder } from "#snapshots/insights/city-of-station.ts";
import { createFollower, type Follower } from "#src/feed/follower.ts";
import type { Point } from "#src/domain/geo.ts";
import { formatDay, formatTime, startOfDay } from "#src/domain/time.ts";
import { noCounts, sharesOut } from "#src/domain/insights.ts";
import { dayMs, hourMs, hourS, minuteMs } from "#src/domain/units.ts";
import { servedStatuses, type ServedStatus } from "#src/domain/vocabulary.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createQuarantine } from "#src/infrastructure/quarantine.ts";
import { createWorkerRedis } from "#src/infrastructure/redis.ts";
import { noteGrades, readGradeDays } from "#src/marks/insight-grades.ts";
import { msOf, partnerReporter } from "#src/marks/marks.ts";
import { nearestCity } from "#src/marks/nearest-city.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { untilServed } from "#test/flow/refold.ts";
import { useStage } from "#test/flow/stage.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { createInsightsDuty } from "#workers/snapshots/insights.ts";

interface Run {
  station_id: string;
  status: ServedStatus;
  from: number;
  to: number | null;
}

interface Day {
  day: string;
  share_out: Record<string, number | null>;
  statuses: Record<ServedStatus, number>;
}

interface Place {
  stations: number;
  statuses: Record<ServedStatus, number>;
  days: Day[];
}

/** Has no city near. */
const alone = placeOf(11).id;
const dayCount = 3;

/** Hours from now to noon of tomorrow: the service's clock stands there, so that its yesterday is near. */
const toNoonS = Math.round((startOfDay(Date.now()) + dayMs + 12 * hourMs - Date.now()) / 1000);

describe("flow: history, insights and overview are a count of status runs", function () {
  this.timeout(120_000);
  const { instance, country, web, webs, operator, client } = useStage(12, ["web", "marks"], {
    CLOCK_OFFSET_S: String(toNoonS),
  });
  let later: RunningRole | undefined;
  const makers: { stop(): Promise<void> }[] = [];

  before(async () => {
    const { db, meet } = country;
    await rows(db, "update stations set lat = 65 where id = ?", [alone]);
    await rows(db, "select feed_stamp(array[?])", [alone]);
    for (const [n, user] of ["ann", "bob", "eve"].entries()) await meet(user, 49 * 60 + n * 15);
  });
  after(async () => {
    for (const maker of makers) await maker.stop();
    await later?.stop();
  });

  /** The duty of the snapshots role, with the clocks of process and SQL these hours after the others'. */
  const openMaker = async (hours: number): Promise<() => Promise<number>> => {
    const config: Config = { ...instance.config, clockOffsetS: toNoonS + hours * hourS };
    const log = createLog({ logLevel: "silent" }, "test");
    const [db, redis] = [createDb(config, "insights", 3), createWorkerRedis(config, log)];
    const model = createReadModel({ lifetimeMs: config.statusLifetimeMs });
    let now = Date.now() + config.clockOffsetS * 1000;
    const clock = (): number => now;
    const onRows = (found: Parameters<typeof model.apply>[0]): void => model.apply(found, now);
    const follower: Follower = createFollower({ db, config, log, clock, onRows });
    makers.push({
      stop: async () => {
        await follower.stop();
        redis.disconnect();
        await db.destroy();
      },
    });
    await follower.start();
    const make = createInsightsDuty({
      ...{ config, db, log, clock, redis, model, follower },
      quarantine: createQuarantine(log),
    });
    return async () => {
      const [newest] = await rows<{ seq: number }>(db, "select max(seq)::int as seq from changes");
      await until(
        async () => follower.seq(),
        (seq) => seq >= newest!.seq,
      );
      now = Date.now() + config.clockOffsetS * 1000;
      await make();
      return now;
    };
  };

  /** The whole table. A status lives for a day, also where nobody has written its end yet. */
  const readRuns = async (): Promise<Run[]> => {
    const found = await rows<Run>(
      country.db,
      `select station_id, status, ${msOf("from_at")} as from, ${msOf("to_at")} as to
       from status_runs order by station_id, from_at`,
    );
    return found.map((run) =>
      run.to === null && run.status !== "nodata" ? { ...run, to: run.from + dayMs } : run,
    );
  };

  /** Mean stations by status within a time, run by run. */
  const meanOf = (runs: readonly Run[], from: number, to: number, count: number) => {
    const ms = new Map<string, number>();
    for (const run of runs) {
      const part = Math.min(run.to ?? to, to) - Math.max(run.from, from);
      if (part > 0 && run.status !== "nodata") ms.set(run.status, (ms.get(run.status) ?? 0) + part);
    }
    const known = [...ms.values()].reduce((sum, one) => sum + one, 0);
    ms.set("nodata", count * (to - from) - known);
    return servedStatuses.map((status) => (ms.get(status) ?? 0) / (to - from));
  };

  /** What a place must show at `at`, from the table alone: now, and by day. */
  const expected = (all: readonly Run[], ids: readonly string[], at: number): number[][] => {
    const runs = all.filter(({ station_id }) => ids.includes(station_id));
    const today = startOfDay(at);
    const days = Array.from({ length: dayCount }, (_, n) => today - (dayCount - 1 - n) * dayMs);
    return [
      meanOf(runs, at, at + 1, ids.length),
      ...days.map((from) => meanOf(runs, from, Math.min(from + dayMs, at), ids.length)),
    ];
  };
  const shown = ({ statuses, days }: Place): number[][] =>
    [statuses, ...days.map((day) => day.statuses)].map((counts) =>
      servedStatuses.map((status) => counts[status]),
    );
  const fits = (some: number[][], others: number[][]): boolean =>
    some.every((line, n) => line.every((one, i) => Math.abs(one - others[n]![i]!) < 0.011));

  /** Waits until the API says what the table does about that moment; answers what it says of the country. */
  const expectInsights = async (at: number): Promise<Place> => {
    const runs = await readRuns();
    const all = country.stationIds;
    const near = all.filter((id) => id !== alone);
    const [whole, city] = [all, near].map((ids) => expected(runs, ids, at));
    const { body } = await until(
      () => client.get(`/insights/cities?days=${dayCount}&city=тестоград`),
      ({ status, body: said }) =>
        status === 200 && fits(shown(said.country), whole!) && fits(shown(said.cities[0]), city!),
    );
    expect(body.country.stations).to.equal(all.length);
    expect(body.cities[0]).to.include({ name: "Тестоград", stations: near.length });
    expect(body.country.days.at(-1).day).to.equal(formatDay(at));
    const { no, nodata } = body.country.statuses;
    const known = all.length - nodata;
    expect(body.country.share_no).to.equal(known === 0 ? null : round(no / known));
    return body.country as Place;
  };
  const round = (share: number): number => Math.round(share * 10_000) / 10_000;

  /** Every station's history is what the table has, with `nodata` before the first run and after the last. */
  const expectHistories = async (reader: Client, at: number): Promise<void> => {
    const runs = await readRuns();
    for (const id of country.stationIds) {
      const { body } = await reader.get(`/stations/${id}/history?hours=168`);
      const own = runs.filter((run) => run.station_id === id).map((run) => ({ ...run }));
      const ended = own.at(-1)?.to ?? null;
      if (ended !== null) own.push({ station_id: id, status: "nodata", from: ended, to: null });
      const first = own[0]?.from ?? null;
      const start = first === null ? null : formatTime(first);
      const must = own
        .filter(({ from }) => from <= at)
        .map(({ status, from, to }) => ({
          ...{ status, from: formatTime(from) },
          to: to === null || to > at ? null : formatTime(to),
        }));
      const nothing = { status: "nodata", from: body.from, to: start };
      expect(body.runs, id).to.deep.equal([nothing, ...must]);
    }
  };

  const mark = async (n: number, user: string, status: string, hoursAgo: number, more = {}) => {
    const at = Date.now() + (toNoonS - hoursAgo * hourS) * 1000;
    const observed = hoursAgo === 0 ? {} : { observed_at: formatTime(at) };
    const answer = await client.mark(placeOf(n), user, { status, ...observed, ...more });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
  };
  const page = async (more = ""): Promise<string> =>
    (await fetch(`${web.baseUrl}/overview?lang=en${more}`)).text();

  it("holds before and after a rollback, and where nobody has written what has expired", async () => {
    const make = await openMaker(0);
    expect(await page()).to.include("being counted");
    expect((await client.get("/insights/cities")).status).to.equal(503);
    expect((await client.get(`/stations/${placeOf(0).id}/history?hours=0`)).status).to.equal(422);
    expect((await client.get("/stations/nowhere/history")).status).to.equal(404);

    await mark(10, "ann", "no", 22);
    for (const n of [0, 1, 2]) await mark(n, "ann", "yes", 20 - n / 2, { fuels: ["92"] });
    for (const n of [2, 3, 11]) await mark(n, "eve", "queue", 16 - n / 4, { fuels_no: ["95"] });
    await mark(4, "eve", "low", 0);
    await mark(5, "bob", "yes", 0, { fuels: ["95"] });
    let at = await make();
    const before = await expectInsights(at);
    await expectHistories(client, at);
    expect(before.statuses).to.include({ yes: 3, queue: 2, low: 1, no: 1 });
    expect(await page("&city=Nowhere")).to.include("There is no city called “Nowhere”");
    // What a stranger sends is not repeated in each link.
    expect(await page("&key=stranger&lang=stranger")).to.not.include("stranger");
    expect(await page(`&city=${encodeURIComponent("ТЕСТОГРАД ")}`))
      .to.include("Where fuel is missing: Тестоград")
      .and.not.include("no city called");
    expect(before.days[1]!.statuses.queue).to.be.greaterThan(0.2);
    // One look so far: the day says of the grades what is said now.
    const { grades: now, days } = before as Place & {
      grades: Record<string, { share_out: number | null }>;
    };
    for (const [grade, { share_out }] of Object.entries(now))
      expect(days.at(-1)!.share_out[grade], grade).to.equal(share_out);
    expect(days.at(-1)!.share_out["95"]).to.equal(0.75);
    expect(days.at(-2)!.share_out["95"]).to.equal(null);
    const html = await page();
    expect(html).to.include("Тестоград").and.include("12 filling stations");
    expect(html).to.include("<small>3 of 4<");

    const eve = partnerReporter(instance.config.reporterPepper, country.partnerId, "eve");
    expect((await operator("marks", "rollback", "--reporter", eve)).json).to.include({
      marks: 4,
    });
    await untilServed(country.db, webs);
    at = await make();
    const rolledBack = await expectInsights(at);
    await expectHistories(client, at);
    expect(rolledBack.statuses).to.include({ yes: 4, queue: 0, low: 0 });
    // Yesterday had been counted and stored.
    expect(rolledBack.days[1]!.statuses.queue).to.equal(0);
    expect(await page()).to.not.include("<small>3 of 4<");

    const makeLater = await openMaker(30);
    const ahead = { CLOCK_OFFSET_S: String(toNoonS + 30 * hourS) };
    later = await startRole("web", { ...instance.env, ...ahead });
    at = await makeLater();
    const expired = await expectInsights(at);
    expect(expired.statuses.nodata).to.equal(12);
    expect(expired.days[1]!.statuses.yes).to.be.greaterThan(0.1);
    await expectHistories(createClient(later.baseUrl, country.secret), at);
  });

  it("looks at the grades every ten minutes, whoever looks", async () => {
    const { db } = country;
    await rows(db, "delete from insight_grades");
    const day = startOfDay(Date.now()) + 200 * dayMs;
    const look = (minutes: number, available: number, out: number): Promise<void> => {
      const counts = noCounts();
      counts.grades["95"] = { available, out, unknown: 1 };
      return noteGrades(db, { "": counts }, day + minutes * minuteMs);
    };
    await Promise.all([look(0, 3, 1), look(0, 3, 1), look(9, 0, 9)]);
    await look(10, 1, 3);
    await look(24 * 60, 1, 0);
    await Promise.all([look(24 * 60 + 1, 0, 1), look(24 * 60 + 2, 0, 1)]);
    const days = [
      ...(await readGradeDays(
        db,
        new Map(),
        createQuarantine(createLog({ logLevel: "silent" }, "test")),
      )),
    ];
    const shares = days.map(([at, cities]) => [(at - day) / dayMs, sharesOut(cities[""])["95"]]);
    expect(shares).to.have.deep.members([
      [0, 0.5],
      [1, 0],
    ]);
    await rows(db, "delete from insight_grades");
  });

  it("finds the city of a station as the review does", async () => {
    const { db } = country;
    await rows(
      db,
      `insert into cities (id, source, name, lat, lon, population)
       select 'near' || n, 'test', 'Near', 55 + n * 0.011, 37 + n * 0.02, n from generate_series(1, 30) n`,
    );
    const find = cityFinder(await loadCityRows(db, { sift: (_, found) => [...found] }));
    const known = await rows<{ id: string; city: string }>(
      db,
      `select a.id, coalesce(c.id, '') as city from stations a left join ${nearestCity} on true`,
    );
    const places = await rows<Point & { id: string }>(db, "select id, lat, lon from stations");
    const found = places.map((place) => ({ id: place.id, city: find(place) }));
    expect(found).to.have.deep.members(known);
    expect(new Set(found.map(({ city }) => city)).size).to.be.greaterThan(2);
  });
});
