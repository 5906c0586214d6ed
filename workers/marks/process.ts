import { raiseAlarms } from "#src/alarms/raise.ts";
import type { Config } from "#src/infrastructure/config.ts";
import {
  inTransaction,
  isBrokenOff,
  isUnavailable,
  rows,
  type Statements,
} from "#src/infrastructure/db.ts";
import { decide, type Decision, type Facts } from "#src/domain/decide.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import { emptyState } from "#src/domain/state.ts";
import { dayMs } from "#src/domain/units.ts";
import { loadFirstSeen, refoldMarks } from "#src/marks/histories.ts";
import { type Days, daysOfIds, idsOfDays, openDays } from "#src/marks/open-days.ts";
import { type Locking, lockStations } from "#src/infrastructure/locks.ts";
import type { Quarantine } from "#src/infrastructure/quarantine.ts";
import { pipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import type { RoleDeps } from "#workers/role.ts";
import { loadHistory, loadUntil } from "#src/marks/bounded-history.ts";
import { lastServedUntil } from "#src/marks/stored-runs.ts";
import { loadWork, type StationWork } from "#workers/marks/load.ts";
import { type Changed, isLostFence, save } from "#workers/marks/save.ts";
import type { FirstStatuses } from "#workers/marks/first-statuses.ts";
import { createReviewCities } from "#workers/marks/cities.ts";
import { type Decided, review } from "#workers/marks/review.ts";
import type { Unfoldable } from "#workers/marks/retry-backoff.ts";

export type ProcessDeps = Pick<RoleDeps, "db" | "config" | "clock" | "log"> & {
  quarantine?: Quarantine;
  /** Remembers the cities of stations between calls. */
  reviewCities?: ReturnType<typeof createReviewCities>;
};

export interface Processed {
  processed: number;
  /** Where stations changed; null when nothing that is served changed. */
  changed: Changed | null;
  /** Stations that cannot be folded now, and no mark of theirs is to blame. */
  unfoldable: readonly Unfoldable[];
  /** Sources whose newcomers gave stations their first status. */
  firsts: readonly FirstStatuses[];
}

export interface Scope {
  /** Of which days marks are looked for; the latest ones without it, so that old partitions are not read. */
  days?: Days;
  locking: Locking;
  /** Only this mark. */
  only?: number;
}

/** What one transaction did, and of which stations there is more to do. */
interface Taken extends Processed {
  long: readonly string[];
  unfinished: readonly string[];
}

/** A refold of more marks than this gets a transaction of its own, after the others of its batch. */
const sharedRefoldMarks = 500;

/**
 * Folds the unprocessed marks of these stations into their states: in one transaction, but for stations with long
 * refolds and for what is more than a transaction takes. A second run, also at the same time, changes nothing more.
 * A mark that cannot be processed becomes `failed`; the others are processed. A station whose transaction Postgres
 * breaks off is unfoldable; the others go on. Rejects while Postgres is away.
 */
export async function processStations(
  deps: ProcessDeps,
  stationIds: readonly string[],
  scope: Scope = { locking: "wait" },
): Promise<Processed> {
  const taken = await takeStations(deps, stationIds, scope);
  const results: Processed[] = [taken];
  for (const stationId of taken.long) results.push(await processStations(deps, [stationId], scope));
  if (taken.unfinished.length > 0)
    results.push(await processStations(deps, taken.unfinished, scope));
  return sum(results);
}

async function takeStations(
  deps: ProcessDeps,
  stationIds: readonly string[],
  scope: Scope,
): Promise<Taken> {
  try {
    return await processTogether(deps, stationIds, scope);
  } catch (error) {
    if (isOfAll(error)) throw error;
    if (stationIds.length === 1) {
      const [stationId] = stationIds as [string];
      if (isBrokenOff(error)) return { ...nothingDone, unfoldable: [{ stationId, error }] };
      return { ...nothingDone, ...(await processAlone(deps, stationId, scope, error)) };
    }
    deps.log.warn(
      { err: error, stations: stationIds.length },
      "batch failed, taking its stations one by one",
    );
    const results: Processed[] = [];
    for (const stationId of [...stationIds].sort())
      results.push(await processStations(deps, [stationId], scope));
    return { ...nothingDone, ...sum(results) };
  }
}

/** A fault that says nothing about a station: the whole run is tried again. */
const isOfAll = (error: unknown): boolean =>
  isLostFence(error) || (isUnavailable(error) && !isBrokenOff(error));

const sum = (results: readonly Processed[]): Processed => ({
  processed: results.reduce((total, one) => total + one.processed, 0),
  changed: results.map(({ changed }) => changed).reduce(joinChanged, null),
  unfoldable: results.flatMap((one) => one.unfoldable),
  firsts: results.flatMap((one) => one.firsts),
});

const joinChanged = (a: Changed | null, b: Changed | null): Changed | null =>
  a === null || b === null
    ? (a ?? b)
    : { places: [...a.places, ...b.places], seq: Math.max(a.seq, b.seq) };

const nothingDone: Taken = {
  processed: 0,
  changed: null,
  unfoldable: [],
  firsts: [],
  long: [],
  unfinished: [],
};

const processTogether = (
  deps: ProcessDeps,
  stationIds: readonly string[],
  scope: Scope,
): Promise<Taken> =>
  pipelinedTransaction(deps.db, async (tx) => {
    const { config } = deps;
    const refoldMax = stationIds.length === 1 ? refoldMarks : sharedRefoldMarks;
    const { work, firstSeen, now, long, unfinished } = await loadWork(
      tx,
      stationIds,
      lockStations(tx, stationIds, scope.locking),
      { ...scope, now: deps.clock(), refoldMax },
      config,
    );
    if (work.length === 0) return { ...nothingDone, long };
    for (const one of work) noteUnreadable(deps, one);
    const decided: Decided[] = [];
    for (const one of work)
      decided.push({ work: one, decision: await decideOne(tx, one, firstSeen, now, config) });
    const again = (one: StationWork): Promise<Decision> =>
      decideOne(tx, one, firstSeen, now, config);
    const about = { firstSeen, now, config };
    const reviewed = await review(
      tx,
      decided,
      about,
      deps.reviewCities ?? createReviewCities(),
      again,
    );
    const changed = await save(tx, reviewed, now, config);
    return {
      processed: decided.reduce((total, one) => total + one.decision.outcomes.size, 0),
      changed,
      unfoldable: [],
      firsts: reviewed.firsts,
      long,
      unfinished,
    };
  });

/** What the fold goes without: a state that it makes anew, marks that it leaves out. */
function noteUnreadable(
  { log, quarantine }: ProcessDeps,
  { stationId: station, isUnreadable, facts: { history } }: StationWork,
): void {
  if (isUnreadable) log.warn({ station }, "state cannot be read, made anew from the marks");
  if (history?.unreadable !== undefined) quarantine?.add("marks", history.unreadable);
}

async function decideOne(
  tx: Statements,
  work: StationWork,
  firstSeen: FirstSeen,
  now: number,
  config: Config,
): Promise<Decision> {
  const { arrivals } = work;
  const facts =
    work.refoldFrom === null
      ? work.facts
      : withoutLaterAge(work.facts, work.refoldFrom, now, config);
  const decision = decide(facts, arrivals, firstSeen, now, config);
  if (facts.history === null || decision.state.lastUpdated !== null) return decision;
  // It lies before the gap at which the history starts, unless all was read or nothing was ever served.
  if (work.refoldFrom === 0 || work.facts.state.lastUpdated === null) return decision;
  const earlier = await lastUpdatedBefore(tx, work, now, config);
  if (earlier === null) return decision;
  if (earlier !== "unknown") {
    const state = { ...facts.state, lastUpdated: earlier };
    return decide({ ...facts, state }, arrivals, firstSeen, now, config);
  }
  const history = await loadHistory(tx, work.stationId, facts.state, arrivals, config, true);
  if (isAsLong(history, facts.history)) return decision;
  const marks = [...facts.opinions, ...arrivals.marks, ...history.marks];
  const seen = await loadFirstSeen(tx, new Set(marks.map((mark) => mark.reporterId)));
  return decide({ ...facts, history }, arrivals, seen, now, config);
}

type Events = NonNullable<Facts["history"]>;

const isAsLong = (one: Events, other: Events): boolean =>
  one.marks.length === other.marks.length && one.seeds.length === other.seeds.length;

/**
 * The age, ms, of what the station served last before anything that changes now: folded from the marks of then. Null when
 * it never served before, "unknown" when the runs do not tell.
 */
async function lastUpdatedBefore(
  tx: Statements,
  { stationId, arrivals, refoldFrom }: StationWork,
  now: number,
  config: Config,
): Promise<number | null | "unknown"> {
  const times = arrivals.marks.map(({ at }) => at);
  const changedFrom = Math.min(refoldFrom ?? Number.POSITIVE_INFINITY, ...times);
  const until = await lastServedUntil(tx, stationId, changedFrom);
  // Runs that were kept for a shorter time than marks do not tell of all of them.
  if (until === null) return config.runsDays < config.retentionDays ? "unknown" : null;
  const history = await loadUntil(tx, stationId, until, config);
  const seen = await loadFirstSeen(tx, new Set(history.marks.map((mark) => mark.reporterId)));
  const facts = { state: emptyState, opinions: [], history };
  return decide(facts, { marks: [], seeds: [] }, seen, now, config).state.lastUpdated ?? "unknown";
}

/**
 * A refold must not keep the age of a status that a withdrawn mark had set: what was served before `refoldFrom` (ms), or
 * before all that is kept, is as it was.
 */
function withoutLaterAge(facts: Facts, refoldFrom: number, now: number, config: Config): Facts {
  const sureUntil = Math.max(refoldFrom, now - config.retentionDays * dayMs);
  const { lastUpdated } = facts.state;
  return lastUpdated === null || lastUpdated < sureUntil
    ? facts
    : { ...facts, state: { ...facts.state, lastUpdated: null } };
}

/** Takes one station's marks one by one, so that only the bad mark fails. `cause`: why they failed together. */
async function processAlone(
  deps: ProcessDeps,
  stationId: string,
  scope: Scope,
  cause: unknown,
): Promise<Processed> {
  const { db, log } = deps;
  const days = (await openDays(db)).flat();
  const marksSql = `select id from marks
    where station_id = ? and processed_at is null and failed_at is null and ${idsOfDays(days)} order by id`;
  const marks = await rows<{ id: number }>(db, marksSql, [stationId]);
  if (marks.length === 0) return { ...nothingDone, unfoldable: [{ stationId, error: cause }] };
  const results: Processed[] = [];
  for (const { id } of marks) {
    try {
      const only = { days: daysOfIds([id]), only: id };
      results.push(await processTogether(deps, [stationId], { ...scope, ...only }));
    } catch (error) {
      if (isOfAll(error)) throw error;
      if (isBrokenOff(error)) {
        results.push({ ...nothingDone, unfoldable: [{ stationId, error }] });
        break;
      }
      log.error(
        { err: error, mark: id, station: stationId },
        "mark failed, set aside for the operator",
      );
      const sql =
        "update marks set failed_at = server_now(), failure = ? where id = ? and processed_at is null";
      await inTransaction(db, async (tx) => {
        await tx.raw(sql, [(error as Error).message.slice(0, 500), id]);
        const subject = `station ${stationId}`;
        await raiseAlarms(tx, [{ kind: "mark-failed", subject, at: deps.clock() }]);
      });
    }
  }
  return sum(results);
}
