import { rows, type Statements } from "#src/infrastructure/db.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import type { Mark, Seed } from "#src/domain/state.ts";
import { dayMs } from "#src/domain/units.ts";
import { grouped } from "#src/infrastructure/lists.ts";
import type { Config } from "#src/infrastructure/config.ts";
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
  /** Time (ms) of the oldest mark that was read, readable or not, if older ones were left out; else null. */
  cutAt: number | null;
  /** Faults of unreadable marks, which are left out too, by id. Absent without one. */
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

/** Limits the marks to read; by default the newest `refoldMarks` that count now. */
interface Reads {
  max?: number;
  counted?: Counted;
  /** Reads only marks and imports of this moment (ms) or earlier; the marks have ids below `idBelow`. */
  until?: { at: number; idBelow: number };
}

/** Chooses marks by the progress of the workers. */
type Reached = keyof typeof reached;

/** Marks that count by their current review. */
export const countedNow: Counted = { sql: "review in ('none', 'approved')", bindings: [] };

/**
 * The events of each station's fold: its counted marks after `from` (ms, 0 for all that is kept) and its imports.
 * `which` chooses if marks that wait for a worker are among them. At most the newest `max` marks of a station, and the
 * imports since the oldest of them.
 */
export async function loadHistories(
  db: Statements,
  stationIds: readonly string[],
  from: number,
  which: Reached,
  { max = refoldMarks, counted = countedNow, until }: Reads = {},
): Promise<Map<string, History>> {
  const histories = new Map<string, History>(
    stationIds.map((stationId) => [stationId, { marks: [], seeds: [], cutAt: null }]),
  );
  if (stationIds.length === 0) return histories;
  // Bounds on ids are literals: with bindings Postgres would lock every partition.
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
  for (const [stationId, found] of grouped(marks, (row) => row.station_id)) {
    const history = histories.get(stationId)!;
    const read = found.slice(0, max);
    for (const row of read) {
      const fault = markShape(row);
      if (fault === null) history.marks.push(toMark(row));
      else (history.unreadable ??= new Map()).set(String(row.id), fault);
    }
    if (found.length > max) history.cutAt = read.at(-1)!.at;
  }
  for (const { station_id, ...seed } of seeds) {
    const history = histories.get(station_id)!;
    if (seed.importedAt >= (history.cutAt ?? from)) history.seeds.push(seed);
  }
  return histories;
}

/** Lifetimes of the first look back, and the factor for each further one. */
const firstLook = 4;
const furtherBy = 4;

/** `changing`: time (ms, by station) from which marks will still come or go. */
interface RecentReads extends Reads {
  changing?: ReadonlyMap<string, number>;
  which?: Reached;
}

/**
 * The marks and imports of each station that can still matter: the newest, back to the last gap of a lifetime before
 * them and before `changing`, since nothing before the gap is alive. The age of an older status is not in them. Looks
 * back farther and farther from `now` (ms), and into all days only for stations that need them: each day is a partition
 * (decisions 16.25). Never more than the newest `max` marks.
 */
export async function loadRecent(
  tx: Statements,
  stationIds: readonly string[],
  { statusLifetimeMs, retentionDays }: Pick<Config, "statusLifetimeMs" | "retentionDays">,
  now: number,
  { changing, which = "processed and waiting", ...reads }: RecentReads = {},
): Promise<Map<string, History>> {
  const recent = new Map<string, History>();
  let rest = stationIds;
  for (let depth = firstLook; rest.length > 0; depth *= furtherBy) {
    const isWhole = depth * statusLifetimeMs > retentionDays * dayMs;
    const from = isWhole ? 0 : now - depth * statusLifetimeMs;
    for (const [id, history] of await loadHistories(tx, rest, from, which, reads)) {
      const times = [
        ...history.marks.map((mark) => mark.at),
        ...history.seeds.map((seed) => seed.importedAt),
      ];
      const change = changing?.get(id) ?? Number.POSITIVE_INFINITY;
      const newest = times.length === 0 ? change : Math.min(Math.max(...times), change);
      const knownFrom = history.cutAt ?? from;
      const recently = Number.isFinite(newest)
        ? afterGap(history, knownFrom, newest, statusLifetimeMs)
        : null;
      const enough = recently ?? (isWhole || history.cutAt !== null ? history : null);
      if (enough !== null) recent.set(id, enough);
    }
    rest = rest.filter((id) => !recent.has(id));
  }
  return recent;
}

/**
 * The history after the last gap of a lifetime before `newest`, where the refold begins; null without such a gap. A gap
 * after `newest` does not help: the marks before it still matter to the mark at `newest`.
 */
export function afterGap(
  history: { marks: readonly Mark[]; seeds: readonly Seed[] },
  from: number,
  newest: number,
  lifetimeMs: number,
): History | null {
  const times = [
    from,
    ...history.marks.map((mark) => mark.at),
    ...history.seeds.map((seed) => seed.importedAt),
  ].filter((at) => at < newest);
  times.sort((a, b) => a - b).push(newest);
  const end = times.findLast((at, index) => index > 0 && at - times[index - 1]! >= lifetimeMs);
  if (end === undefined) return null;
  return {
    ...history,
    marks: history.marks.filter((mark) => mark.at >= end),
    seeds: history.seeds.filter((seed) => seed.importedAt >= end),
    cutAt: null,
  };
}

/** First-seen times of the reporters of these marks, from their only copy: in a transaction that decides, read in that transaction. */
export async function loadFirstSeen(
  db: Statements,
  marks: readonly Pick<Mark, "reporterId">[],
): Promise<FirstSeen> {
  const sql = `select id, ${msOf("first_seen")} as seen from reporters where id = any(?::bigint[])`;
  const ids = new Set(marks.map(({ reporterId }) => reporterId));
  const found = await rows<{ id: number; seen: number | null }>(db, sql, [[...ids]]);
  const seen = new Map(found.map((row) => [row.id, row.seen]));
  return (reporterId) => seen.get(reporterId) ?? 0;
}
