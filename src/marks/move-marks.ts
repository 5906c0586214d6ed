import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { askRefold, type ChangedEvent, lockStations } from "#src/infrastructure/locks.ts";
import { dayMs } from "#src/domain/units.ts";
import { idsByDays, msOf } from "#src/marks/marks.ts";

/** A station that is a part of another one, or was until a person took the two apart. */
interface Move {
  station_id: string;
  into_id: string;
  verdict: "joined" | "apart";
}

/**
 * Moves the marks at a station that belong to another one (decisions 14.30): all marks of a part go to the station that
 * it is a part of; of two that were taken apart each gets its own marks back. A few days at a time, so that no
 * transaction locks many partitions; both stations wait to be folded anew. May be broken off, and run again, also at the
 * same time. Gives the ids of the stations that got marks.
 */
export async function moveMarks(
  db: Db,
  { retentionDays }: Pick<Config, "retentionDays">,
  stationId: string,
  now: number,
): Promise<string[]> {
  const moves = await rows<Move>(
    db,
    `select station_id, into_id, verdict from station_pairs
     where station_id = ? and verdict = 'joined' or into_id = ? and verdict = 'apart' and moving
     order by verdict`,
    [stationId, stationId],
  );
  for (const move of moves) {
    for (const days of idsByDays(now - retentionDays * dayMs, now)) {
      // Most parts have no mark in most days. One that comes later is open, and found by its worker.
      const any = await rows(db, `select from marks where station_id = ? and ${days} limit 1`, [
        sourceOf(move),
      ]);
      if (any.length > 0) await inTransaction(db, (tx) => moveSome(tx, move, days));
    }
    await inTransaction(db, (tx) => finish(tx, move));
  }
  return moves.map((move) => targetOf(move));
}

const sourceOf = ({ station_id, into_id, verdict }: Move): string =>
  verdict === "joined" ? station_id : into_id;

const targetOf = ({ station_id, into_id, verdict }: Move): string =>
  verdict === "joined" ? into_id : station_id;

/** SQL on `station_pairs`, true while the verdict is still the one that is carried out. */
const holdsSql = "station_id = ? and into_id = ? and verdict = ?";
const held = ({ station_id, into_id, verdict }: Move) => [station_id, into_id, verdict];

async function moveSome(tx: Tx, move: Move, days: string): Promise<void> {
  const { station_id: part } = move;
  const [from, to] = [sourceOf(move), targetOf(move)];
  // Covers the marks of both: no worker and no operator writes to them meanwhile, and no verdict changes.
  await lockStations(tx, [from, to], "wait");
  const moved = await rows<ChangedEvent & { id: number }>(
    tx,
    `update marks set station_id = ?, moved_from = ${move.verdict === "joined" ? "coalesce(moved_from, station_id)" : "null"}
     where station_id = ? and ${days} and (${move.verdict === "joined"} or moved_from = ?)
       and exists (select from station_pairs where ${holdsSql})
     returning id, station_id, ${msOf("effective_at")} as at`,
    [to, from, part, ...held(move)],
  );
  if (moved.length === 0) return;
  await rows(tx, "update mark_batch_marks set station_id = ? where mark_id = any(?::bigint[])", [
    ...[to, moved.map(({ id }) => id)],
  ]);
  await askRefold(tx, [...moved, ...moved.map(({ at }) => ({ station_id: from, at }))]);
}

/** Imported statuses are in both places from now on: they end within a day. */
async function finish(tx: Tx, move: Move): Promise<void> {
  const { station_id: part, into_id: whole } = move;
  await lockStations(tx, [part, whole], "wait");
  if (move.verdict === "joined") {
    const copied = await rows<ChangedEvent>(
      tx,
      `insert into seeds (station_id, imported_at, updated, status, fuels_now, fuels_no, source)
       select ?, imported_at, updated, status, fuels_now, fuels_no, source from seeds where station_id = ?
       on conflict do nothing returning station_id, ${msOf("imported_at")} as at`,
      [whole, part],
    );
    await askRefold(tx, copied);
  }
  await rows(tx, `update station_pairs set moving = false where ${holdsSql}`, held(move));
  // Marks that came back go on to the station that the part has been joined with meanwhile.
  if (move.verdict === "apart")
    await rows(
      tx,
      "update station_pairs set moving = true where station_id = ? and verdict = 'joined'",
      [part],
    );
}
