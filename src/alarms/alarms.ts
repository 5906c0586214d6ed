import type { ConsoleAlarm } from "#src/contract/console.ts";
import type { Sentence } from "#src/contract/sentences.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { already, nothing, operatorAct, unknown } from "#src/operators/act.ts";
import { rowId } from "#src/operators/inputs.ts";

/** An alarm as it is stored. It is open until an operator acknowledges it. */
export interface AlarmRow extends Pick<ConsoleAlarm, "id" | "kind" | "city" | "count" | "details"> {
  /** In English, for messages. */
  subject: string;
  /** The subject as a code; null for a text, and when a process of the previous version raised the alarm. */
  said?: Sentence | null;
  raised_at: Date;
  last_at: Date;
  acknowledged_at: Date | null;
  acknowledged_by: string | null;
}

/** Columns that make an AlarmRow. */
export const alarmColumns =
  "id, kind, subject, city, count, details, raised_at, last_at, acknowledged_at, acknowledged_by";

/** Alarms that can be shown and told, so that an unreadable one does not stop the others. */
export const readableAlarms = (found: readonly AlarmRow[]): AlarmRow[] =>
  found.filter(({ details }) => typeof details === "object" && details !== null);

/** Open alarms, or all, the newest first, at most `limit`; and their total number. */
export async function listAlarms(
  db: Db,
  which: "open" | "all",
  limit: number,
  columns = alarmColumns,
): Promise<{ alarms: AlarmRow[]; total: number }> {
  const from = `from alarms ${which === "open" ? "where acknowledged_at is null" : ""}`;
  const alarms = readableAlarms(
    await rows<AlarmRow>(db, `select ${columns} ${from} order by id desc limit ?`, [limit]),
  );
  if (alarms.length < limit) return { alarms, total: alarms.length };
  const [all] = await rows<{ count: number }>(db, `select count(*) ${from}`);
  return { alarms, total: all!.count };
}

/** Closes an alarm that an operator has dealt with. Channels that have not told it yet will not tell it. */
export const acknowledgeAlarm = operatorAct(nothing, rowId, async (tx, _, id, { actor }) => {
  const sql = `update alarms set acknowledged_at = server_now(), acknowledged_by = ?
       where id = ? and acknowledged_at is null returning kind, subject, city`;
  const [alarm] = await rows<Pick<AlarmRow, "kind" | "subject" | "city">>(tx, sql, [actor, id]);
  if (alarm !== undefined)
    return { value: { id }, action: "alarm.acknowledge", subject: `alarm ${id}`, details: alarm };
  const known = await rows(tx, "select from alarms where id = ?", [id]);
  if (known.length === 0) return unknown("alarm", id);
  return already("alarm", id, "acknowledged");
});
