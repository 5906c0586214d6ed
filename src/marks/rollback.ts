import { formatTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { askRefold, lockStations } from "#src/infrastructure/locks.ts";
import { nearestCity } from "#src/marks/nearest-city.ts";
import { firstIdOfDay, fromMs } from "#src/marks/marks.ts";
import { act, invalid, isNotDone, type NotDone, unknown } from "#src/operators/act.ts";

/** Which marks a rollback takes: those that fit all of these. Times are times of receipt, ms. */
export interface Selection {
  /** Ids of a key, a partner and a reporter's row. */
  key?: number | undefined;
  partner?: number | undefined;
  reporter?: number | undefined;
  station?: string | undefined;
  /** The name of a city: its stations as the review counts them (docs/decisions.md 4.6). */
  city?: string | undefined;
  /** The beginning of the hash of a viewer's network, hex, as an alarm names it. */
  network?: string | undefined;
  status?: Status | undefined;
  remote?: boolean | undefined;
  /** Of reporters first seen at this moment or later; before this moment. */
  firstSeenSince?: number | undefined;
  firstSeenUntil?: number | undefined;
  /** Received at this moment or later. */
  since?: number | undefined;
  /** Received before this moment. */
  until?: number | undefined;
}

/** Why a selection is too wide to be rolled back; null when it is not. */
export const refuseWide = (selection: Selection): NotDone | null => {
  const { key, partner, reporter, station, since, firstSeenSince } = selection;
  const narrow = [key, partner, reporter, station, since, firstSeenSince];
  return narrow.every((part) => part === undefined)
    ? invalid(
        "since",
        "Name at least one of key, partner, reporter, station, since and first seen since",
      )
    : null;
};

const chunkStations = 500;

/**
 * Withdraws a selection's marks, as if they had never been made (docs/decisions.md 4): 500 stations a transaction, each
 * with its entry in the operator's log. Interrupted, it has done whole transactions, and the same again does the
 * rest. `done` is called after each commit with the stations that the marks worker is to fold anew.
 */
export async function rollBack(
  db: Db,
  actor: string,
  selection: Selection,
  done: (stationIds: string[], count: number, total: number) => void,
): Promise<{ marks: number; stations: number } | NotDone> {
  const refused = refuseWide(selection);
  if (refused !== null) return refused;
  const all = (await selectedStations(db, selection)).map((row) => row.station_id);
  const sum = { marks: 0, stations: 0 };
  for (const [index, chunk] of [...slices(all, chunkStations)].entries()) {
    const part = all.length > chunkStations ? { part: index + 1 } : {};
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
    done(withdrawn.stationIds, index * chunkStations + chunk.length, all.length);
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

/** The selection as people read it, for the operator's log. */
function readableSelection(selection: Selection): object {
  const { since, until, firstSeenSince, firstSeenUntil, ...others } = selection;
  const readable = (at: number | undefined) => (at === undefined ? undefined : formatTime(at));
  return {
    ...others,
    since: readable(since),
    until: readable(until),
    first_seen_since: readable(firstSeenSince),
    first_seen_until: readable(firstSeenUntil),
  };
}

const reporterSeen = (condition: string): string =>
  `exists (select from reporters r where r.id = marks.reporter_id and r.first_seen ${condition})`;

const stationOfCity = `station_id in (
  select a.id from cities n
  join stations a on a.lat between n.lat - 0.25 and n.lat + 0.25 and abs(a.lon - n.lon) * cos(radians(n.lat)) <= 0.25
  join ${nearestCity} on c.id = n.id where lower(n.name) = lower(?))`;

/** SQL on `marks` for what can be withdrawn of a selection: counted, held and waiting marks, failed ones too. */
export function whereSelected(selection: Selection): { sql: string; bindings: unknown[] } {
  const { key, partner, reporter, station, city, network, status, remote } = selection;
  const { since, until, firstSeenSince, firstSeenUntil } = selection;
  // Nobody has sent a mark before being first seen.
  const from = since ?? firstSeenSince;
  const conditions: [string, unknown][] = [
    ["key_id = ?", key],
    // By its keys: a widget's mark has no partner of its own.
    ["key_id in (select k.id from keys k where k.partner_id = ?)", partner],
    ["reporter_id = ?", reporter],
    ["station_id = ?", station],
    [stationOfCity, city],
    ["encode(viewer, 'hex') like ? || '%'", network],
    ["status = ?", status],
    ["remote = ?", remote],
    [reporterSeen(`>= ${fromMs}`), firstSeenSince],
    [reporterSeen(`< ${fromMs}`), firstSeenUntil],
    [`received_at >= ${fromMs}`, since],
    [`received_at < ${fromMs}`, until],
    // The day is in the id, so that days outside are not even looked at.
    ["id >= ?", from === undefined ? undefined : firstIdOfDay(from)],
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
  const stationsSql = `select station_id, count(*) as marks from marks where ${sql} group by 1 order by 1`;
  return rows(db, stationsSql, bindings);
}

/** The row of a reporter, named by its id or by the hex of its hash. */
export async function findReporter(db: Db | Tx, name: string): Promise<{ id: number } | NotDone> {
  const byHash = name.length === 64;
  const reporterSql = `select id from reporters where ${byHash ? "hash = decode(?, 'hex')" : "id = ?::bigint"}`;
  const [found] = await rows<{ id: number }>(db, reporterSql, [name]);
  return found ?? unknown("reporter", name);
}
