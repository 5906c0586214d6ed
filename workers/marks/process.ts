import { raiseAlarms } from "#src/alarms/raise.ts";
import { inTransaction, isBrokenOff, isUnavailable, rows } from "#src/infrastructure/db.ts";
import type { Decision } from "#src/domain/decide.ts";
import { decideStation, loadStationFacts, type StationFacts } from "#src/marks/station-facts.ts";
import { refoldMarks } from "#src/marks/histories.ts";
import { waitingMax } from "#src/marks/marks.ts";
import { moveMarks } from "#src/marks/move-marks.ts";
import { type Locking, lockStations } from "#src/infrastructure/locks.ts";
import type { Quarantine } from "#src/infrastructure/quarantine.ts";
import { pipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import type { RoleDeps } from "#workers/role.ts";
import { type Changed, isLostFence, save } from "#workers/marks/save.ts";
import {
  createReviewCities,
  type Decided,
  type FirstStatuses,
  review,
} from "#workers/marks/hold-harmful.ts";

export type ProcessDeps = Pick<RoleDeps, "db" | "config" | "clock" | "log"> & {
  quarantine?: Quarantine;
  /** Remembers the cities of stations between calls. */
  reviewCities?: ReturnType<typeof createReviewCities>;
};

/**
 * A station that cannot be folded for a reason other than a mark: the refold for a review or an import throws, or
 * Postgres ends its transaction.
 */
export interface Unfoldable {
  stationId: string;
  error: unknown;
}

export interface Processed {
  processed: number;
  /** Places of changed stations; null when nothing that is served changed. */
  changed: Changed | null;
  /** Stations that cannot be folded now, for a reason other than a mark. */
  unfoldable: readonly Unfoldable[];
  /** Sources whose newcomers gave stations their first status. */
  firsts: readonly FirstStatuses[];
}

export interface ProcessOptions {
  /** Reads all unprocessed marks; without it those of the latest days. */
  all?: true;
  locking: Locking;
}

/** The work of one transaction. */
interface Unit {
  stationIds: readonly string[];
  /** Marks of the only station, one in each transaction, so that a bad mark fails alone. */
  marks?: readonly number[];
  /** The only station's marks are to be moved to the stations where they belong. */
  isMoving?: true;
}

/** The result of a unit, and the units to do after it. */
interface Done extends Partial<Processed> {
  rest: readonly Unit[];
}

/** A refold of more marks than this gets a transaction of its own, after the others of its batch. */
const sharedRefoldMarks = 500;

/**
 * Folds the unprocessed marks of these stations into their states: in one transaction, except stations with long
 * refolds, and marks beyond a transaction's limit. A second run, also at the same time, changes nothing more. A mark
 * that cannot be processed becomes `failed`; the others are processed. A station whose transaction Postgres ends is
 * unfoldable; the others go on. Rejects while Postgres is away.
 */
export async function processStations(
  deps: ProcessDeps,
  stationIds: readonly string[],
  scope: ProcessOptions = { locking: "wait" },
): Promise<Processed> {
  const done: Done[] = [];
  const units: Unit[] = [{ stationIds }];
  for (let unit = units.shift(); unit !== undefined; unit = units.shift()) {
    const current = unit;
    const taken = unit.isMoving ? moveFrom(deps, unit) : takeUnit(deps, unit, scope);
    const one = await taken.catch((error: unknown) => afterFault(deps, current, error));
    done.push(one);
    units.unshift(...one.rest);
  }
  return {
    processed: done.reduce((total, { processed = 0 }) => total + processed, 0),
    changed: done.map(({ changed = null }) => changed).reduce(joinChanged, null),
    unfoldable: done.flatMap(({ unfoldable = [] }) => unfoldable),
    firsts: done.flatMap(({ firsts = [] }) => firsts),
  };
}

const joinChanged = (a: Changed | null, b: Changed | null): Changed | null =>
  a === null || b === null
    ? (a ?? b)
    : { places: [...a.places, ...b.places], seq: Math.max(a.seq, b.seq) };

/**
 * The remaining work of a unit whose transaction failed: several stations are taken one by one, then the marks of a
 * single one. Rejects for a fault that concerns no station: the whole run is then tried again.
 */
async function afterFault(
  deps: ProcessDeps,
  { stationIds, marks, isMoving }: Unit,
  error: unknown,
): Promise<Done> {
  if (isLostFence(error) || (isUnavailable(error) && !isBrokenOff(error))) throw error;
  if (stationIds.length > 1) {
    deps.log.warn(
      { err: error, stations: stationIds.length },
      "batch failed, taking its stations one by one",
    );
    return { rest: [...stationIds].sort().map((id) => ({ stationIds: [id] })) };
  }
  const [stationId] = stationIds as [string];
  const isToBlame = { unfoldable: [{ stationId, error }], rest: [] };
  if (isBrokenOff(error) || isMoving) return isToBlame;
  if (marks !== undefined) {
    await setAside(deps, stationId, marks[0]!, error as Error);
    return { rest: restOf({ stationIds, marks }) };
  }
  const open = await openMarks(deps, stationId);
  return open.length === 0 ? isToBlame : { rest: [{ stationIds, marks: open }] };
}

const restOf = ({ stationIds, marks = [] }: Unit): Unit[] =>
  marks.length > 1 ? [{ stationIds, marks: marks.slice(1) }] : [];

const moveFrom = async (
  { db, config, clock }: ProcessDeps,
  { stationIds }: Unit,
): Promise<Done> => {
  const touched = await moveMarks(db, config, stationIds[0]!, clock());
  return { rest: [{ stationIds: [...new Set([...stationIds, ...touched])] }] };
};

const takeUnit = (deps: ProcessDeps, unit: Unit, scope: ProcessOptions): Promise<Done> =>
  pipelinedTransaction(deps.db, async (tx) => {
    const { config } = deps;
    const { stationIds, marks } = unit;
    const refoldMax = stationIds.length === 1 ? refoldMarks : sharedRefoldMarks;
    const only = marks === undefined ? {} : { only: marks[0]! };
    const { stations, firstSeen, now } = await loadStationFacts(
      tx,
      stationIds,
      { ...scope, ...only, now: deps.clock(), refoldMax },
      config,
      lockStations(tx, stationIds, scope.locking),
    );
    const isLong = ({ facts }: StationFacts): boolean =>
      refoldMax < refoldMarks && typeof facts.history?.cutAt === "number";
    const moving = stations.filter((one) => one.isMoving).map(({ stationId }) => stationId);
    if (moving.length > 0) {
      const others = stationIds.filter((id) => !moving.includes(id));
      const moves = moving.map((id) => ({ stationIds: [id], isMoving: true as const }));
      return { rest: others.length > 0 ? [{ ...unit, stationIds: others }, ...moves] : moves };
    }
    const long = stations.filter(isLong).map(({ stationId }) => ({ stationIds: [stationId] }));
    const work = stations.filter(
      (one) => !isLong(one) && (one.arrivals.marks.length > 0 || one.refoldFrom !== null),
    );
    // More marks of these stations may wait than one transaction takes.
    const unfinished = work.filter(({ arrivals }) => arrivals.marks.length === waitingMax);
    const again = unfinished.map(({ stationId }) => stationId);
    const rest = [...restOf(unit), ...long, ...(again.length > 0 ? [{ stationIds: again }] : [])];
    if (work.length === 0) return { rest };
    for (const one of work) noteUnreadable(deps, one);
    const decideOne = (one: StationFacts): Promise<Decision> =>
      decideStation(tx, one, firstSeen, now, config);
    const decided: Decided[] = [];
    for (const one of work) decided.push({ work: one, decision: await decideOne(one) });
    const reviewed = await review(
      tx,
      decided,
      { firstSeen: (id) => firstSeen.get(id) ?? 0, now, config },
      deps.reviewCities ?? createReviewCities(),
      decideOne,
    );
    const changed = await save(tx, reviewed, now, config);
    return {
      processed: decided.reduce((total, one) => total + one.decision.outcomes.size, 0),
      changed,
      firsts: reviewed.firsts,
      rest,
    };
  });

/** Notes unreadable data: a state that the fold makes anew, marks that it leaves out. */
function noteUnreadable(
  { log, quarantine }: ProcessDeps,
  { stationId: station, isUnreadable, facts: { history } }: StationFacts,
): void {
  if (isUnreadable) log.warn({ station }, "state cannot be read, made anew from the marks");
  if (history?.unreadable !== undefined) quarantine?.add("marks", history.unreadable);
}

async function openMarks({ db }: ProcessDeps, stationId: string): Promise<number[]> {
  const marksSql = `select id from marks
    where station_id = ? and processed_at is null and failed_at is null order by id`;
  return (await rows<{ id: number }>(db, marksSql, [stationId])).map(({ id }) => id);
}

/** Marks a mark as failed, for the operator. */
async function setAside(
  { db, log, clock }: ProcessDeps,
  station: string,
  mark: number,
  error: Error,
): Promise<void> {
  log.error({ err: error, mark, station }, "mark failed, set aside for the operator");
  const sql =
    "update marks set failed_at = server_now(), failure = ? where id = ? and processed_at is null";
  await inTransaction(db, async (tx) => {
    await tx.raw(sql, [error.message.slice(0, 500), mark]);
    await raiseAlarms(tx, [
      { kind: "mark-failed", subject: { code: "station", station }, at: clock() },
    ]);
  });
}
