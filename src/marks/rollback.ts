import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { askRefold, lockStations } from "#src/infrastructure/station-lock.ts";
import {
  readableSelection,
  refuseWide,
  type Selection,
  selectedStations,
  whereSelected,
} from "#src/marks/rollback-selection.ts";
import { act, isNotDone, type NotDone } from "#src/operators/act.ts";

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
export async function rollBack(
  db: Db,
  actor: string,
  selection: Selection,
  done: (stationIds: string[], count: number, total: number) => void,
): Promise<RolledBack | NotDone> {
  const refused = refuseWide(selection);
  if (refused !== null) return refused;
  const all = (await selectedStations(db, selection)).map((row) => row.station_id);
  const sum: RolledBack = { marks: 0, stations: 0 };
  for (let from = 0; from < all.length; from += chunkStations) {
    const chunk = all.slice(from, from + chunkStations);
    const part = all.length > chunkStations ? { part: from / chunkStations + 1 } : {};
    const withdrawn = await act(db, actor, async (tx) => {
      const value = await withdrawMarks(tx, selection, chunk);
      const { marks, stationIds } = value;
      const stations = stationIds.length;
      return {
        value,
        action: "marks.rollback",
        subject: `${marks} marks at ${stations} stations`,
        details: { ...readableSelection(selection), marks, stations, ...part },
      };
    });
    if (isNotDone(withdrawn)) return withdrawn;
    sum.marks += withdrawn.marks;
    sum.stations += withdrawn.stationIds.length;
    done(withdrawn.stationIds, from + chunk.length, all.length);
  }
  return sum;
}

/**
 * Withdraws the selection's marks at these stations and has the stations folded anew. A mark that no worker has come
 * to yet is done with as well: it is never processed. Gives the stations that lost a mark.
 */
async function withdrawMarks(
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
