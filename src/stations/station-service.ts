import { Type } from "typebox";
import { rows, type Tx } from "#src/infrastructure/db.ts";
import { already, changed, nothing, operatorAct, unknown } from "#src/operators/act.ts";
import { comment, stationId } from "#src/operators/inputs.ts";
import { joinsOf } from "#src/stations/join-stations.ts";
import { cardOf, lockStation, pathOf } from "#src/stations/edit-station.ts";
import { type HandEdits, saveEdits } from "#src/stations/hand-edits.ts";

const close = Type.Object({ comment: Type.Optional(comment) }, { additionalProperties: false });

/**
 * Takes a station out of service by hand. It stays closed when an import still has it (decisions 14.6), and
 * partners get it as removed, as with an import.
 */
export const closeStation = operatorAct(close, stationId, async (tx, { comment = "" }, id) => {
  const found = await lockStation(tx, id);
  if (found === null) return unknown("station", id);
  const { station, edits } = found;
  if (!station.in_service) return already("station", id, "out of service");
  const closed: HandEdits = { ...edits, in_service: false };
  await saveEdits(tx, closed);
  await setService(tx, id, false);
  return {
    value: cardOf({ ...station, in_service: false }, closed),
    action: "station.close",
    subject: `station ${id}`,
    details: {
      before: { in_service: true },
      after: { in_service: false },
      comment: comment.trim(),
    },
    undo: { path: `${pathOf(id)}/reopen` },
  };
});

/**
 * Puts a station in service again. If imports have taken it out, it is kept in service by hand until an import has it
 * again (decisions 14.6).
 */
export const reopenStation = operatorAct(nothing, stationId, async (tx, _, id) => {
  const found = await lockStation(tx, id);
  if (found === null) return unknown("station", id);
  const { station, edits } = found;
  if (station.in_service) return already("station", id, "in service");
  const { part_of: whole } = await joinsOf(tx, id);
  if (whole !== null) return changed("station", id, `is a part of station ${whole}: split it`);
  const isOutInFile = edits.in_service === null || edits.file_removed;
  const opened: HandEdits = isOutInFile
    ? { ...edits, in_service: true, file_removed: true }
    : { ...edits, in_service: null, file_removed: false };
  await saveEdits(tx, opened);
  await setService(tx, id, true);
  return {
    value: cardOf({ ...station, in_service: true }, opened),
    action: "station.reopen",
    subject: `station ${id}`,
    details: { before: { in_service: false }, after: { in_service: true } },
    undo: { path: `${pathOf(id)}/close`, body: {} },
  };
});

async function setService(tx: Tx, id: string, inService: boolean): Promise<void> {
  const sql = `update stations set removed_at = case when not ?::boolean then server_now() end, updated_at = server_now()
     where id = ?`;
  await rows(tx, sql, [inService, id]);
  await rows(tx, "select feed_stamp(?::text[], ?::boolean)", [[id], !inService]);
}
