import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { readStored } from "#src/feed/feed.ts";
import { databaseNow } from "#src/infrastructure/clock.ts";
import type {
  ConsoleBatch,
  ConsoleRollback,
  ConsoleRollbackChange,
} from "#src/contract/console-review.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { grouped, slices } from "#src/infrastructure/lists.ts";
import { decide } from "#src/domain/decide.ts";
import { emptyState, type FuelBlock, type Mark, type StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { dayMs } from "#src/domain/units.ts";
import {
  type BatchAct,
  coveringSql,
  findBatch,
  stillWithdrawn,
} from "#src/marks/bulk-decisions.ts";
import {
  type Counted,
  countedNow,
  type History,
  loadFirstSeen,
  loadHistories,
  loadRecent,
} from "#src/marks/histories.ts";
import { markColumns, type MarkRow, stationTitle, toMark } from "#src/marks/marks.ts";
import {
  refuseSelection,
  type Selection,
  selectedStations,
  whereSelected,
} from "#src/marks/mark-selection.ts";
import { inMs, presented } from "#src/operators/presented.ts";

/** Stations that are computed together, and in all. */
const atOnce = 50;
const workedOutMost = 500;

/** A station, with the number of its marks that a decision concerns. */
interface Touched {
  station_id: string;
  marks: number;
}

/**
 * A fold to compare: the served one, or one over these marks. `arriving` are held marks, which come after the others
 * because the worker judges them when they are approved.
 */
type Preview = "served" | { over: Counted; arriving?: Counted };

/**
 * Computes a rollback without doing it, from one snapshot: each station's fold over its marks without the selected
 * ones, as the marks worker will compute it. `changes` has at most `shown` of the stations with the most marks, changed
 * ones first (decisions 13.14). `held`: selected marks that wait for a review and so do not count yet.
 */
export const previewRollback = (
  db: Db,
  selection: Selection,
  config: Config,
  shown: number,
): Promise<ConsoleRollback | Refusal> => {
  const { sql, bindings } = whereSelected(selection);
  const over = { sql: `${countedNow.sql} and (${sql}) is not true`, bindings };
  return preview(db, selection, undefined, { over }, config, shown);
};

/** The same for held marks that would be approved: each station's fold with them. */
export const previewApproval = (
  db: Db,
  selection: Selection,
  config: Config,
  shown: number,
): Promise<ConsoleRollback | Refusal> => {
  const arriving = whereSelected(selection, ["held"]);
  return preview(db, selection, ["held"], { over: countedNow, arriving }, config, shown);
};

const preview = async (
  db: Db,
  selection: Selection,
  reviews: ["held"] | undefined,
  after: Preview,
  config: Config,
  shown: number,
): Promise<ConsoleRollback | Refusal> =>
  (await refuseSelection(db, selection, reviews)) ??
  inSnapshot(db, async (tx) => {
    const { sql, bindings } = whereSelected(selection, reviews);
    const [sums] = await rows<
      Pick<ConsoleRollback, "marks" | "held" | "reporters" | "established">
    >(
      tx,
      `select count(*) as marks, count(*) filter (where review = 'held') as held,
         count(distinct reporter_id) as reporters,
         count(*) filter (where coalesce(
           (select r.first_seen from reporters r where r.id = reporter_id) <= received_at - ?::bigint * interval '1 ms',
           true)) as established
       from marks where ${sql}`,
      [config.establishedMs, ...bindings],
    );
    const stations = await selectedStations(tx, selection, reviews);
    const compared = await compare(tx, stations, "served", after, config, shown);
    return { ...sums!, stations: stations.length, ...compared };
  });

/** A decision's record with its changes as of now: each station with it and without it. */
export const showBatch = (
  db: Db,
  acts: readonly BatchAct[],
  id: number,
  config: Config,
  shown: number,
): Promise<ConsoleBatch | Refusal> =>
  inSnapshot(db, async (tx) => {
    const batch = await findBatch(tx, acts, id);
    if (isRefusal(batch)) return batch;
    const stations = await rows<Touched>(
      tx,
      "select station_id, count(*) as marks from mark_batch_marks where batch_id = ? group by 1 order by 1",
      [id],
    );
    const refoldsSql = "select count(*) as waiting from station_status where refold";
    const [refolds] = await rows<{ waiting: number }>(tx, refoldsSql);
    const compared =
      batch.act === "reject"
        ? { changes: [], worked_out: 0 }
        : await compare(
            tx,
            stations,
            { over: withoutBatch(id, batch.act) },
            { over: countedNow },
            config,
            shown,
          );
    const bySql = `select (${coveringSql}) as by from mark_batch_marks k where k.batch_id = ?`;
    const by = (await rows<{ by: number | null }>(tx, bySql, [id])).map((mark) => mark.by);
    const restores = by.filter((one) => one === null).length;
    return { ...presented(batch, inMs), ...refolds!, restores, ...stillWithdrawn(by), ...compared };
  });

/** The marks that would count without the decision. */
function withoutBatch(id: number, act: BatchAct): Counted {
  const ofBatch = "select k.mark_id from mark_batch_marks k where k.batch_id = ?";
  return act === "rollback"
    ? {
        sql: `${countedNow.sql} or id in (${ofBatch} and k.review in ('none', 'approved') and k.failed_at is null
          and (${coveringSql}) is null)`,
        bindings: [id],
      }
    : { sql: `${countedNow.sql} and id not in (${ofBatch})`, bindings: [id] };
}

const inSnapshot = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction(work, { isolationLevel: "repeatable read", readOnly: true });

/** Two versions of the stations with the most marks, until `shown` of them differ; the changed ones first. */
async function compare(
  tx: Tx,
  stations: readonly Touched[],
  before: Preview,
  after: Preview,
  config: Config,
  shown: number,
): Promise<{ changes: ConsoleRollbackChange[]; worked_out: number }> {
  const most = stations
    .toSorted((a, b) => b.marks - a.marks || (a.station_id < b.station_id ? -1 : 1))
    .slice(0, workedOutMost);
  const changes: ConsoleRollbackChange[] = [];
  for (const some of slices(most, atOnce)) {
    const ids = some.map((station) => station.station_id);
    const [fuelBefore, fuelAfter] = [
      await fuels(tx, ids, before, config),
      await fuels(tx, ids, after, config),
    ];
    const found = await rows<{ id: string; name: string; lat: number; lon: number }>(
      tx,
      `select s.id, ${stationTitle} as name, s.lat, s.lon from stations s where s.id = any(?::text[])`,
      [ids],
    );
    const stationOf = new Map(found.map((station) => [station.id, station]));
    for (const { station_id: id, marks } of some) {
      const { name = "", lat = null, lon = null } = stationOf.get(id) ?? {};
      changes.push({
        ...{ station_id: id, station: name, lat, lon, marks },
        ...{ before: fuelBefore.get(id)!, after: fuelAfter.get(id)! },
      });
    }
    if (changes.filter((change) => rank(change) < 2).length >= shown) break;
  }
  const sorted = changes.toSorted((a, b) => rank(a) - rank(b));
  return { changes: sorted.slice(0, shown), worked_out: changes.length };
}

/** 0 if the status changes, 1 if anything else does, 2 without a change. */
const rank = ({ before, after }: Pick<ConsoleRollbackChange, "before" | "after">): number =>
  before.status !== after.status ? 0 : JSON.stringify(before) === JSON.stringify(after) ? 2 : 1;

async function fuels(
  tx: Tx,
  ids: readonly string[],
  version: Preview,
  config: Config,
): Promise<Map<string, FuelBlock>> {
  const savedSql = `select station_id, state from station_status where station_id = any(?::text[])`;
  const found = await rows<{ station_id: string; state: StationState | null }>(tx, savedSql, [ids]);
  const states = new Map(found.map((row) => [row.station_id, readStored(row.state).state]));
  const now = await databaseNow(tx);
  const shown = (stateOf: (id: string) => StationState): Map<string, FuelBlock> =>
    new Map(ids.map((id) => [id, view(stateOf(id), now, config.statusLifetimeMs)]));
  const saved = (id: string): StationState => states.get(id) ?? emptyState;
  if (version === "served") return shown(saved);

  const arriving = grouped(
    await loadArriving(tx, ids, version.arriving),
    ({ stationId }) => stationId,
  );
  const keptFrom = now - config.retentionDays * dayMs;
  const fold = async (histories: ReadonlyMap<string, History>) => {
    const known = [...histories.values()].flatMap(({ marks }) => marks);
    const added = [...histories.keys()].flatMap((id) =>
      (arriving.get(id) ?? []).map(({ mark }) => mark),
    );
    const firstSeen = await loadFirstSeen(tx, [...known, ...added]);
    return new Map(
      [...histories].map(([id, history]) => {
        const { lastUpdated } = saved(id);
        const older = lastUpdated !== null && lastUpdated < keptFrom;
        const start = { ...emptyState, lastUpdated: older ? lastUpdated : null };
        const here = arriving.get(id) ?? [];
        const judged = new Set(here.flatMap((one) => (one.judged ? one.mark.id : [])));
        const arrivals = { marks: here.map(({ mark }) => mark), seeds: [], judged };
        const facts = { state: start, opinions: [], history };
        return [id, decide(facts, arrivals, firstSeen, now, config).state];
      }),
    );
  };
  const firstArrival = new Map(
    [...arriving].map(([id, some]) => [id, Math.min(...some.map(({ mark }) => mark.at))]),
  );
  const [which, counted] = ["processed and waiting", { counted: version.over }] as const;
  const reads = { ...counted, changing: firstArrival };
  const recent = await fold(await loadRecent(tx, ids, config, now, reads));
  // The last served status may lie in any earlier day.
  const silent = ids.filter((id) => recent.get(id)!.lastUpdated === null);
  const whole = await fold(await loadHistories(tx, silent, 0, which, counted));
  return shown((id) => whole.get(id) ?? recent.get(id)!);
}

async function loadArriving(
  tx: Tx,
  ids: readonly string[],
  arriving: Counted | undefined,
): Promise<{ stationId: string; mark: Mark; judged: boolean }[]> {
  if (arriving === undefined) return [];
  const found = await rows<MarkRow & { judged: boolean }>(
    tx,
    `select ${markColumns}, coalesce(held_reason in ('source', 'city'), false) as judged
     from marks where ${arriving.sql} and station_id = any(?::text[]) order by id`,
    [...arriving.bindings, ids],
  );
  return found.map((row) => ({ stationId: row.station_id, mark: toMark(row), judged: row.judged }));
}
