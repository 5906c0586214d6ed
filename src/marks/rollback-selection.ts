import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { dayMs } from "#src/domain/units.ts";
import { firstIdOfDay, fromMs } from "#src/marks/marks.ts";

/** Which marks a rollback takes: those that fit everything that is given. Times are times of receipt, ms. */
export interface Selection {
  keyId?: number;
  partnerId?: number;
  reporterId?: number;
  stationId?: string;
  status?: Status;
  /** Received at this moment or later. */
  since?: number;
  /** Received before this moment. */
  until?: number;
}

/** SQL on `marks` for what can be withdrawn of a selection: counted, held and waiting marks, failed ones too. */
export function whereSelected(selection: Selection): { sql: string; bindings: unknown[] } {
  const { keyId, partnerId, reporterId, stationId, status, since, until } = selection;
  const given: [string, unknown][] = [
    ["key_id = ?", keyId],
    // By its keys: a widget's mark has no partner of its own.
    ["key_id in (select k.id from keys k where k.partner_id = ?)", partnerId],
    ["reporter_id = ?", reporterId],
    ["station_id = ?", stationId],
    ["status = ?", status],
    [`received_at >= ${fromMs}`, since],
    [`received_at < ${fromMs}`, until],
    // The day is in the id, so that days outside are not even looked at.
    ["id >= ?", since === undefined ? undefined : firstIdOfDay(since)],
    ["id < ?", until === undefined ? undefined : firstIdOfDay(until + dayMs)],
  ];
  const used = given.filter(([, value]) => value !== undefined);
  return {
    sql: ["review in ('none', 'approved', 'held')", ...used.map(([sql]) => sql)].join(" and "),
    bindings: used.map(([, value]) => value),
  };
}

/** The stations that a selection touches, ascending, with how many of its marks each has. */
export async function selectedStations(
  db: Db | Tx,
  selection: Selection,
): Promise<{ station_id: string; marks: number }[]> {
  const { sql, bindings } = whereSelected(selection);
  return rows(
    db,
    `select station_id, count(*) as marks from marks where ${sql} group by 1 order by 1`,
    bindings,
  );
}

/** The row of a reporter, named by its id or by the hex of its hash; null when there is none. */
export async function findReporter(db: Db | Tx, name: string): Promise<number | null> {
  const byHash = name.length === 64;
  const [found] = await rows<{ id: number }>(
    db,
    `select id from reporters where ${byHash ? "hash = decode(?, 'hex')" : "id = ?::bigint"}`,
    [name],
  );
  return found?.id ?? null;
}
