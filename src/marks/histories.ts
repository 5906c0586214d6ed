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
  toMark,
} from "#src/marks/marks.ts";

export interface History {
  marks: Mark[];
  seeds: Seed[];
}

const counted = {
  processed: "processed_at is not null and outcome is not null",
  "processed and waiting": "failed_at is null",
} as const;

/**
 * Each station's counted marks after `from` (ms, 0 for all that is kept) and its imports, what the fold is over:
 * `which` says whether marks that no worker has come to yet are among them.
 */
export async function loadHistories(
  db: Statements,
  stationIds: readonly string[],
  from: number,
  which: keyof typeof counted,
): Promise<Map<string, History>> {
  const histories = new Map<string, History>(
    stationIds.map((stationId) => [stationId, { marks: [], seeds: [] }]),
  );
  if (stationIds.length === 0) return histories;
  const marks = await rows<MarkRow>(
    db,
    `select ${markColumns} from marks
     where station_id = any(?::text[]) and effective_at > ${fromMs} and id >= ?
       and review in ('none', 'approved') and ${counted[which]}`,
    [stationIds, from, firstIdOfDay(from)],
  );
  const seedsSql = `select ${seedColumns} from seeds where station_id = any(?::text[]) and imported_at > ${fromMs}`;
  const seeds = await rows<SeedRow>(db, seedsSql, [stationIds, from]);
  for (const row of marks) histories.get(row.station_id)!.marks.push(toMark(row));
  for (const { station_id, ...seed } of seeds) histories.get(station_id)!.seeds.push(seed);
  return histories;
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
