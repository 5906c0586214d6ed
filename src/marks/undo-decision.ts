import type { StillWithdrawn } from "#src/contract/console-review.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { askRefold, type ChangedEvent, lockStations } from "#src/infrastructure/locks.ts";
import {
  type Batch,
  type BatchAct,
  batchActs,
  chunkStations,
  type Committed,
  coveringSql,
  isTakenBack,
  keptColumns,
  lockBatch,
  stillWithdrawn,
} from "#src/marks/bulk-decisions.ts";
import { idsBetween, msOf } from "#src/marks/marks.ts";
import { act, unknown } from "#src/operators/act.ts";

/**
 * Takes a decision back (decisions 4.20): restores its marks with their verdicts and outcomes, and has their stations
 * folded anew. Marks in between keep their effect, and marks that somebody has decided anew since stay as they are. 500
 * stations a transaction, each with its entry in the operator's log; after an interruption the same call does the rest.
 * Gives the result of this call, with the marks that other rollbacks still withdraw, if any (decisions 4.23).
 */
export async function undoDecision(
  db: Db,
  actor: string,
  acts: readonly BatchAct[],
  id: number,
  committed: Committed,
): Promise<({ id: number; marks: number; stations: number } & Partial<StillWithdrawn>) | Refusal> {
  // From now on no mark is added to the record.
  const [batch] = await rows<Batch>(
    db,
    `update mark_batches set undo_at = coalesce(undo_at, server_now()), undo_actor = coalesce(undo_actor, ?)
     where id = ? and act = any(?::text[]) returning *`,
    [actor, id, acts],
  );
  if (batch === undefined) return unknown(batchActs[acts[0]!].what, id);
  if (batch.undone_at !== null) return isTakenBack(batch.act, id);
  const sum = { marks: 0, stations: 0 };
  let by: (number | null)[] = [];
  // More than once only where marks have moved to another station meanwhile.
  for (let all: string[]; (all = await stationsLeft(db, id)).length > 0;)
    for (const [index, chunk] of [...slices(all, chunkStations)].entries()) {
      const part = all.length > chunkStations ? { part: index + 1 } : {};
      const restored = await act(db, actor, async (tx) => {
        await lockBatch(tx, id);
        const value = await restoreMarks(tx, batch, chunk);
        if (value === null) return isTakenBack(batch.act, id);
        const still = stillWithdrawn(value.by);
        const { what, action } = batchActs[batch.act];
        return {
          value,
          action: `${action}-undo`,
          subject: `${what} ${id}`,
          details: { marks: value.marks, stations: value.stationIds.length, ...still, ...part },
        };
      });
      // Somebody else was faster there.
      if (isRefusal(restored)) continue;
      sum.marks += restored.marks;
      sum.stations += restored.stationIds.length;
      by = by.concat(restored.by);
      committed(restored.stationIds, index * chunkStations + chunk.length, all.length);
    }
  await rows(
    db,
    "update mark_batches set undone_at = coalesce(undone_at, server_now()) where id = ?",
    [id],
  );
  return { id, ...sum, ...stillWithdrawn(by) };
}

const stationsLeft = async (db: Db, id: number): Promise<string[]> => {
  const sql = "select distinct station_id from mark_batch_marks where batch_id = ? order by 1";
  return (await rows<{ station_id: string }>(db, sql, [id])).map((row) => row.station_id);
};

/** Restores the old values of the marks at these stations; null when none are left. */
export async function restoreMarks(
  tx: Tx,
  { id, act: name }: Batch,
  stationIds: readonly string[],
): Promise<{ marks: number; stationIds: string[]; by: (number | null)[] } | null> {
  const ofChunk = "batch_id = ? and station_id = any(?::text[])";
  // Before the question for other rollbacks: each adds its marks, and takes them back, under these locks.
  await lockStations(tx, stationIds, "wait");
  const keptSql = `select k.mark_id, (${coveringSql}) as by from mark_batch_marks k where ${ofChunk}`;
  const kept = await rows<{ mark_id: number; by: number | null }>(tx, keptSql, [id, stationIds]);
  if (kept.length === 0) return null;
  const ids = kept.filter(({ by }) => by === null).map((mark) => mark.mark_id);
  const restored = await rows<ChangedEvent>(
    tx,
    `update marks set ${keptColumns.map((column) => `${column} = k.${column}`).join(", ")}
     from mark_batch_marks k where k.batch_id = ? and k.station_id = any(?::text[]) and k.mark_id = marks.id
       and marks.id = any(?::bigint[]) and ${idsBetween(ids, "marks.id")}
       and marks.review = '${batchActs[name].becomes}'
     returning marks.station_id, ${msOf("marks.effective_at")} as at`,
    [id, stationIds, ids],
  );
  await rows(tx, `delete from mark_batch_marks where ${ofChunk}`, [id, stationIds]);
  const touched = [...new Set(restored.map((mark) => mark.station_id))];
  if (batchActs[name].refolds) await askRefold(tx, restored);
  return { marks: restored.length, stationIds: touched, by: kept.map(({ by }) => by) };
}
