import { rows, type Statements } from "#src/infrastructure/db.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import type { Mark, Seed } from "#src/domain/state.ts";
import {
  firstIdOfDay,
  fromMs,
  markColumns,
  type MarkRow,
  msOf,
  seedColumns,
  type SeedRow,
  markShape,
  toMark,
} from "#src/marks/marks.ts";

export interface History {
  marks: Mark[];
  seeds: Seed[];
  /** There are older marks, which are left out. */
  isCut: boolean;
  /** Marks that cannot be read, which are left out too: why, by id. Absent without one. */
  unreadable?: Map<string, string>;
}

/** The marks of a station that a refold, a dry run or an explanation reads at most, the newest (decisions 2.41). */
export const refoldMarks = 2000;

const reached = {
  processed: "processed_at is not null and outcome is not null",
  "processed and waiting": "failed_at is null",
} as const;

/** SQL on `marks` for those that count, with its bindings. */
export interface Counted {
  sql: string;
  bindings: readonly unknown[];
}

/** Which of a station's marks are read, without it the newest `refoldMarks` that count now. */
export interface Reads {
  max?: number;
  counted?: Counted;
  /** Marks and imports of this moment (ms) or earlier alone; the ids of these marks are below. */
  until?: { at: number; idBelow: number };
}

/** Which marks are reached by how far the workers are. */
export type Reached = keyof typeof reached;

/** By their verdicts, as they are. */
export const countedNow: Counted = { sql: "review in ('none', 'approved')", bindings: [] };

/**
 * Each station's counted marks after `from` (ms, 0 for all that is kept) and its imports, what the fold is over:
 * `which` says whether marks that no worker has come to yet are among them. At most the newest `max` marks of a station,
 * and the imports since the oldest of them.
 */
export async function loadHistories(
  db: Statements,
  stationIds: readonly string[],
  from: number,
  which: Reached,
  { max = refoldMarks, counted = countedNow, until }: Reads = {},
): Promise<Map<string, History>> {
  const histories = new Map<string, History>(
    stationIds.map((stationId) => [stationId, { marks: [], seeds: [], isCut: false }]),
  );
  if (stationIds.length === 0) return histories;
  // Bounds on ids are written out: with the values unknown Postgres would lock every partition.
  const [untilSql, untilBindings] =
    until === undefined
      ? ["", []]
      : [`and effective_at <= ${fromMs} and id < ${until.idBelow}`, [until.at]];
  const marks = await rows<MarkRow>(
    db,
    `select m.* from unnest(?::text[]) as asked (station_id) cross join lateral (
       select ${markColumns} from marks
       where station_id = asked.station_id and effective_at > ${fromMs} and id >= ${firstIdOfDay(from)}
         and (${counted.sql}) and ${reached[which]} ${untilSql}
       order by effective_at desc, id desc limit ?) m`,
    [stationIds, from, ...counted.bindings, ...untilBindings, max + 1],
  );
  const seedsSql = `select ${seedColumns} from seeds where station_id = any(?::text[]) and imported_at > ${fromMs}`;
  const seeds = (await rows<SeedRow>(db, seedsSql, [stationIds, from])).filter(
    (seed) => until === undefined || seed.importedAt <= until.at,
  );
  for (const row of marks) {
    const history = histories.get(row.station_id)!;
    const fault = markShape(row);
    if (fault === null) history.marks.push(toMark(row));
    else (history.unreadable ??= new Map()).set(String(row.id), fault);
  }
  for (const { station_id, ...seed } of seeds) histories.get(station_id)!.seeds.push(seed);
  for (const [stationId, history] of histories)
    if (history.marks.length > max) histories.set(stationId, cutTo(history, max));
  return histories;
}

/** `marks` come newest first. */
function cutTo(history: History, max: number): History {
  const { marks, seeds } = history;
  const kept = marks.slice(0, max);
  const { at } = kept.at(-1)!;
  return {
    ...history,
    marks: kept,
    seeds: seeds.filter((seed) => seed.importedAt >= at),
    isCut: true,
  };
}

/** First-seen times from their only copy: in a transaction that decides, read in that transaction. */
export async function loadFirstSeen(
  db: Statements,
  reporterIds: ReadonlySet<number>,
): Promise<FirstSeen> {
  const sql = `select id, ${msOf("first_seen")} as seen from reporters where id = any(?::bigint[])`;
  const found = await rows<{ id: number; seen: number | null }>(db, sql, [[...reporterIds]]);
  const seen = new Map(found.map((row) => [row.id, row.seen]));
  return (reporterId) => seen.get(reporterId) ?? 0;
}
