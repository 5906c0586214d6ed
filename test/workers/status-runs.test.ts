import { expect } from "chai";
import { decide } from "#src/domain/decide.ts";
import { emptyState } from "#src/domain/state.ts";
import { type StatusRun, statusRuns } from "#src/domain/view.ts";
import { formatTime } from "#src/domain/time.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { applyImportedStatuses } from "#src/import/imported-statuses.ts";
import { createClock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb, type Db, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { reviewMark } from "#src/marks/review-mark.ts";
import { loadFirstSeen, loadHistories } from "#src/marks/histories.ts";
import { fromMs, msOf, partnerReporter } from "#src/marks/marks.ts";
import { dropRuns, loadRuns, rebuildRuns } from "#src/marks/stored-runs.ts";
import { decideBatch } from "#src/marks/bulk-decisions.ts";
import { by } from "#test/harness/by.ts";
import { placeOf } from "#test/flow/country.ts";
import { runOperator } from "#test/harness/operator.ts";
import { type ProcessDeps, processStations } from "#workers/marks/process.ts";
import { settleTransitions } from "#workers/upkeep/transitions.ts";
import { useStage } from "#test/flow/stage.ts";

const log = createLog({ logLevel: "silent" }, "test");
const users = ["ann", "bob", "cat", "dan", "eve"];

interface Said {
  status: Status;
  /** Hours after the start of the test at which it was so. */
  at: number;
  needed?: number;
  held?: boolean;
}

describe("worker: status runs", function () {
  const { instance, country } = useStage(10, []);
  let t0: number;
  const clocks = new Map<number, ProcessDeps>();

  before(async () => {
    await country.db.raw(
      "select ensure_mark_partitions((server_now() at time zone 'UTC')::date - 1, 9)",
    );
    t0 = Math.floor(Date.now() / 1000) * 1000;
    for (const [n, user] of users.entries()) await country.meet(user, 9000 + n * 60);
  });
  after(async () => {
    for (const { db } of clocks.values()) await db.destroy();
  });

  /** A marks worker whose clock, and that of its database, is `hours` after the start of the test, and goes on. */
  const worker = (hours: number): ProcessDeps => {
    const known = clocks.get(hours);
    if (known !== undefined) return known;
    const config: Config = { ...instance.config, clockOffsetS: hours * 3600 };
    const deps = { db: createDb(config, "test", 3), config, clock: createClock(config), log };
    clocks.set(hours, deps);
    return deps;
  };

  const store = async (
    db: Db,
    station: number,
    user: string,
    { status, at, needed = 1, held = false }: Said,
  ): Promise<number> => {
    const [stored] = await rows<{ id: number }>(
      db,
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
         review, processed_at, outcome)
       select next_mark_id(server_now()), ?, r.id, 'partner', ?, server_now(), ${fromMs}, false, ?, 'geolocated',
         v.review, case when v.review = 'held' then server_now() end, case when v.review = 'held' then 'held' end
       from reporters r, (values (?)) as v(review) where r.hash = decode(?, 'hex') returning id`,
      [
        placeOf(station).id,
        status,
        t0 + at * hourMs,
        needed,
        held ? "held" : "none",
        partnerReporter(instance.config.reporterPepper, country.partnerId, user),
      ],
    );
    return stored!.id;
  };
  const work = (deps: ProcessDeps, station: number) => processStations(deps, [placeOf(station).id]);
  /** A mark that comes in `hours` after the start, and is processed at once. */
  const send = async (hours: number, station: number, user: string, said: Said): Promise<void> => {
    const deps = worker(hours);
    await store(deps.db, station, user, said);
    await work(deps, station);
  };

  /** What is stored of a station, in hours after the start. */
  const stored = async (station: number): Promise<[string, number, number | null][]> =>
    hoursOf(
      await rows<StatusRun>(
        country.db,
        `select status, ${msOf("from_at")} as from, ${msOf("to_at")} as to from status_runs
         where station_id = ? order by from_at`,
        [placeOf(station).id],
      ),
    );
  const hoursOf = (runs: readonly StatusRun[]): [string, number, number | null][] =>
    runs.map(({ status, from, to }) => [
      status,
      (from - t0) / hourMs,
      to === null ? null : (to - t0) / hourMs,
    ]);
  /** The pure function over all that counts at a station. */
  const expected = async ({ db, config, clock }: ProcessDeps, station: number) => {
    const { id } = placeOf(station);
    const history = (await loadHistories(db, [id], 0, "processed and waiting")).get(id)!;
    const seen = await loadFirstSeen(db, history.marks);
    const facts = { state: emptyState, opinions: [], history };
    const { states } = decide(facts, { marks: [], seeds: [] }, seen, clock(), config);
    const all = statusRuns(
      { before: emptyState, states },
      0,
      clock(),
      instance.config.statusLifetimeMs,
    );
    return hoursOf(all.slice(1));
  };
  const expectRuns = async (
    hours: number,
    station: number,
    runs: [string, number, number | null][],
  ): Promise<void> => {
    const deps = worker(hours);
    const read = await loadRuns(deps.db, placeOf(station).id, 0, deps.config);
    expect(hoursOf(read!)).to.deep.equal(runs);
    expect(await expected(deps, station)).to.deep.equal(runs);
    await settleTransitions(deps);
    expect(await stored(station)).to.deep.equal(runs);
  };

  it("follow the marks, and end at the instant at which the status expires", async () => {
    await send(0, 0, "ann", { status: "yes", at: -2 });
    await send(0, 0, "bob", { status: "yes", at: -1 });
    await send(0, 0, "cat", { status: "low", at: -0.5 });
    await expectRuns(1, 0, [
      ["yes", -2, -0.5],
      ["low", -0.5, null],
    ]);
    const gone: [string, number, number | null][] = [
      ["yes", -2, -0.5],
      ["low", -0.5, 23.5],
      ["nodata", 23.5, null],
    ];
    await expectRuns(40, 0, gone);
    // A mark that does not publish leaves what is served as it is.
    await send(40, 0, "dan", { status: "no", at: 39, needed: 2 });
    await expectRuns(40, 0, gone);
    await send(40, 0, "eve", { status: "no", at: 39.5, needed: 2 });
    await expectRuns(40, 0, [...gone.slice(0, 2), ["nodata", 23.5, 39.5], ["no", 39.5, null]]);
  });

  it("are rewritten for a late mark", async () => {
    await send(0, 2, "ann", { status: "yes", at: -3 });
    await send(0, 2, "bob", { status: "no", at: -1 });
    await send(1, 2, "cat", { status: "low", at: -2 });
    await send(1, 2, "dan", { status: "queue", at: -4 });
    await expectRuns(1, 2, [
      ["queue", -4, -3],
      ["yes", -3, -2],
      ["low", -2, -1],
      ["no", -1, null],
    ]);
  });

  it("are rewritten when a held mark is approved, and when marks are rolled back", async () => {
    await send(0, 4, "ann", { status: "yes", at: -3 });
    const deps = worker(0);
    const held = await store(deps.db, 4, "eve", { status: "no", at: -2, held: true });
    await send(0, 4, "bob", { status: "low", at: -1 });
    const before = await stored(4);
    expect(before).to.deep.equal([
      ["yes", -3, -1],
      ["low", -1, null],
    ]);
    await reviewMark.approve(by(deps.db, "test"), {}, held);
    await work(deps, 4);
    await expectRuns(0, 4, [
      ["yes", -3, -2],
      ["no", -2, -1],
      ["low", -1, null],
    ]);
    const [mark] = await rows<{ reporter_id: number }>(
      deps.db,
      "select reporter_id from marks where id = ?",
      [held],
    );
    const eves = { station: placeOf(4).id, reporter: mark!.reporter_id };
    await decideBatch(deps.db, "test", "rollback", eves, () => undefined);
    await work(deps, 4);
    await expectRuns(0, 4, before);
    await decideBatch(deps.db, "test", "rollback", { station: placeOf(4).id }, () => undefined);
    await work(deps, 4);
    await expectRuns(0, 4, []);
  });

  it("take an imported status in, and what a rollback brings back of it", async () => {
    const deps = worker(0);
    const status = { status: "low" as const, updated: t0 - 3 * hourMs, fuelsNow: [], fuelsNo: [] };
    const imported = {
      stationId: placeOf(5).id,
      ...{ own: "5", lines: 1, place: "", written: "" },
      ...status,
    };
    await applyImportedStatuses(deps.db, "test", [imported], deps.config, false, () => undefined);
    await work(deps, 5);
    const [[, from]] = (await stored(5)) as [[string, number, null]];
    await expectRuns(1, 5, [["low", from, null]]);
    await send(2, 5, "ann", { status: "yes", at: 1.5 });
    await expectRuns(2, 5, [
      ["low", from, 1.5],
      ["yes", 1.5, null],
    ]);
    await decideBatch(deps.db, "test", "rollback", { station: placeOf(5).id }, () => undefined);
    await work(worker(2), 5);
    await expectRuns(2, 5, [["low", from, null]]);
    await expectRuns(40, 5, [
      ["low", from, 21],
      ["nodata", 21, null],
    ]);
  });

  const allStored = () =>
    rows(country.db, "select *, xmin from status_runs order by station_id, from_at");
  const operator = (...args: string[]) => {
    const env = { ...instance.env, CLOCK_OFFSET_S: String(40 * 3600) };
    return runOperator(env, ...args, "--json", "--actor", "olga");
  };

  it("are rebuilt from the marks by one command, which writes nothing that is right", async () => {
    await settleTransitions(worker(40));
    const before = await allStored();
    expect(before).to.have.length.above(8);
    expect((await operator("runs", "rebuild")).json).to.deep.equal({ stations: 4, busy: [] });
    expect(await allStored()).to.deep.equal(before);
    await country.db.raw("delete from status_runs where station_id <> ?", [placeOf(2).id]);
    await country.db.raw("update status_runs set status = 'queue' where station_id = ?", [
      placeOf(2).id,
    ]);
    const one = await operator("runs", "rebuild", "--station", placeOf(0).id);
    expect(one.json).to.deep.equal({ stations: 1, busy: [] });
    expect(await stored(0)).to.have.length(4);
    expect(await stored(5)).to.have.length(0);
    await operator("runs", "rebuild");
    const plain = (list: unknown[]) => list.map((row) => ({ ...(row as object), xmin: null }));
    expect(plain(await allStored())).to.deep.equal(plain(before));
    const entries = await rows(
      country.db,
      "select actor, subject, details from operator_log where action = 'runs.rebuild' order by id",
    );
    expect(entries[1]).to.deep.equal({
      ...{ actor: "olga", subject: `station ${placeOf(0).id}` },
      details: { stations: 1, busy: 0 },
    });
    const unknown = await operator("runs", "rebuild", "--station", "nowhere");
    expect([unknown.code, unknown.json.error]).to.deep.equal([1, "there is no station nowhere"]);
  });

  it("are listed, also those that nobody has stored yet", async () => {
    await send(0, 6, "ann", { status: "yes", at: -2 });
    expect(await stored(6)).to.deep.equal([["yes", -2, null]]);
    const list = await operator("runs", "list", "--station", placeOf(6).id);
    const text = (hours: number): string => formatTime(t0 + hours * hourMs);
    expect(list.json).to.deep.equal([
      { status: "yes", from: text(-2), to: text(22) },
      { status: "nodata", from: text(22), to: null },
    ]);
    const since = ["--station", placeOf(6).id, "--since", text(30)];
    expect((await operator("runs", "list", ...since)).json).to.deep.equal(list.json.slice(1));
    expect((await operator("runs", "list", "--station", "nowhere")).code).to.equal(1);
  });

  it("are the same when they are rebuilt while marks come in", async () => {
    const deps = worker(0);
    const statuses = ["yes", "no", "low", "queue"] as const;
    let isOver = false;
    const rebuilding = (async (): Promise<number> => {
      let count = 0;
      for (; !isOver; count += 1)
        await rebuildRuns(deps.db, "test", deps.config, undefined, () => undefined);
      return count;
    })();
    // Every third one is late.
    for (let n = 0; n < 60; n += 1) {
      const at = n % 3 === 2 ? -1.5 + n / 1000 : -1 + n / 100;
      await send(0, 7, users[n % 5]!, { status: statuses[n % 4]!, at });
    }
    isOver = true;
    expect(await rebuilding).to.be.above(1);
    expect(await stored(7)).to.have.length.above(20);
    await expectRuns(0, 7, await expected(deps, 7));
  });

  it("stay where the marks are gone, and are dropped a fixed time after their end", async () => {
    await send(0, 8, "ann", { status: "yes", at: -2 });
    const add = (status: string, from: number, to: number) =>
      rows(
        country.db,
        `insert into status_runs (station_id, status, from_at, to_at) values (?, ?, ${fromMs}, ${fromMs})`,
        [placeOf(8).id, status, t0 + from * hourMs, t0 + to * hourMs],
      );
    await add("no", -24 * 20, -24 * 10);
    await add("nodata", -24 * 10, -2);
    const config = { ...instance.config, retentionDays: 8 };
    const kept = await stored(8);
    await rebuildRuns(country.db, "test", config, undefined, () => undefined);
    expect(await stored(8)).to.deep.equal(kept);
    await dropRuns(country.db, t0 - 11 * dayMs);
    expect(await stored(8)).to.deep.equal(kept);
    await dropRuns(country.db, t0 - 9 * dayMs);
    expect(await stored(8)).to.deep.equal(kept.slice(1));
  });
});
