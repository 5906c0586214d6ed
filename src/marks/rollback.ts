import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { type Selection, selectedStations, whereSelected } from "#src/marks/rollback-selection.ts";
import { askRefold, lockStations } from "#src/infrastructure/locks.ts";

const chunkStations = 500;

export interface RolledBack {
  marks: number;
  stations: number;
}

/**
 * Withdraws a selection's marks, as if they had never been made (decisions.md 4): 500 stations a transaction, each
 * with its entry in the operator's log. Interrupted, it has done whole transactions, and the same again does the
 * rest. `done` is called after each commit with the stations that the marks worker is to fold anew.
 */
export async function runRollback(
  db: Db,
  selection: Selection,
  by: { actor: string; details: Readonly<Record<string, unknown>> },
  done: (stationIds: string[], count: number, total: number) => void,
): Promise<RolledBack> {
  const all = (await selectedStations(db, selection)).map((row) => row.station_id);
  const sum: RolledBack = { marks: 0, stations: 0 };
  for (let from = 0; from < all.length; from += chunkStations) {
    const chunk = all.slice(from, from + chunkStations);
    const { marks, stationIds } = await inTransaction(db, async (tx) => {
      const withdrawn = await rollbackMarks(tx, selection, chunk);
      await logAction(tx, {
        actor: by.actor,
        action: "marks.rollback",
        subject: `${withdrawn.marks} marks at ${withdrawn.stationIds.length} stations`,
        details: {
          ...by.details,
          marks: withdrawn.marks,
          stations: withdrawn.stationIds.length,
          ...(all.length > chunkStations ? { part: from / chunkStations + 1 } : {}),
        },
      });
      return withdrawn;
    });
    sum.marks += marks;
    sum.stations += stationIds.length;
    done(stationIds, from + chunk.length, all.length);
  }
  return sum;
}

/**
 * Withdraws the selection's marks at these stations and has the stations folded anew. A mark that no worker has come
 * to yet is done with as well: it is never processed. Gives the stations that lost a mark.
 */
export async function rollbackMarks(
  tx: Tx,
  selection: Selection,
  stationIds: readonly string[],
): Promise<{ marks: number; stationIds: string[] }> {
  await lockStations(tx, stationIds, "wait");
  const { sql, bindings } = whereSelected(selection);
  const withdrawn = await rows<{ station_id: string }>(
    tx,
    `update marks set review = 'withdrawn', processed_at = coalesce(processed_at, server_now()), failed_at = null
     where ${sql} and station_id = any(?::text[]) returning station_id`,
    [...bindings, stationIds],
  );
  const touched = [...new Set(withdrawn.map((row) => row.station_id))];
  await askRefold(tx, touched);
  return { marks: withdrawn.length, stationIds: touched };
}
