import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { formatTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { firstIdOfDay, fromMs } from "#src/marks/marks.ts";
import { invalid, type NotDone, unknown } from "#src/operators/act.ts";

/** Which marks a rollback takes: those that fit all of these. Times are times of receipt, ms. */
export interface Selection {
  /** Ids of a key, a partner and a reporter's row. */
  key?: number | undefined;
  partner?: number | undefined;
  reporter?: number | undefined;
  station?: string | undefined;
  status?: Status | undefined;
  /** Received at this moment or later. */
  since?: number | undefined;
  /** Received before this moment. */
  until?: number | undefined;
}

/** Why a selection is too wide to be rolled back; null when it is not. */
export const refuseWide = ({ key, partner, reporter, station, since }: Selection): NotDone | null =>
  [key, partner, reporter, station, since].every((part) => part === undefined)
    ? invalid("since", "Name at least one of key, partner, reporter, station and since")
    : null;

/** The selection as people read it, for the operator's log. */
export function readableSelection({ since, until, ...others }: Selection): object {
  const readable = (at: number | undefined) => (at === undefined ? undefined : formatTime(at));
  return { ...others, since: readable(since), until: readable(until) };
}

/** SQL on `marks` for what can be withdrawn of a selection: counted, held and waiting marks, failed ones too. */
export function whereSelected(selection: Selection): { sql: string; bindings: unknown[] } {
  const { key, partner, reporter, station, status, since, until } = selection;
  const conditions: [string, unknown][] = [
    ["key_id = ?", key],
    // By its keys: a widget's mark has no partner of its own.
    ["key_id in (select k.id from keys k where k.partner_id = ?)", partner],
    ["reporter_id = ?", reporter],
    ["station_id = ?", station],
    ["status = ?", status],
    [`received_at >= ${fromMs}`, since],
    [`received_at < ${fromMs}`, until],
    // The day is in the id, so that days outside are not even looked at.
    ["id >= ?", since === undefined ? undefined : firstIdOfDay(since)],
    ["id < ?", until === undefined ? undefined : firstIdOfDay(until + dayMs)],
  ];
  const used = conditions.filter(([, value]) => value !== undefined);
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

/** The row of a reporter, named by its id or by the hex of its hash. */
export async function findReporter(db: Db | Tx, name: string): Promise<{ id: number } | NotDone> {
  const byHash = name.length === 64;
  const [found] = await rows<{ id: number }>(
    db,
    `select id from reporters where ${byHash ? "hash = decode(?, 'hex')" : "id = ?::bigint"}`,
    [name],
  );
  return found ?? unknown("reporter", name);
}
