import { rows, type Statements } from "#src/infrastructure/db.ts";
import { columnsOf } from "#src/infrastructure/lists.ts";

/**
 * Every advisory lock of the service. Postgres keeps locks named by one bigint apart from those named by two integers,
 * but no number is used twice even so: a reader of pg_locks can then tell them by their number alone. The ids of
 * released migrations stand in their SQL and are repeated here. A number, once released, keeps its meaning: processes
 * of two versions run side by side during a deploy.
 *
 * Order: `importSource` or `intakePartner`, then rows of stations (`lockStations`), then `review`, then `changeFeed`,
 * which is the last before commit. The others are held alone, `migrate` around `markPartitions`.
 */
export const lockIds = {
  /** Number and time of a change: follow the order of commits. SQL of 0002_create_change_feed, 0010_send_statements_together. */
  changeFeed: 7_166_733,
  /** Making partitions of marks. SQL of 0003_create_mark_partitions. */
  markPartitions: 7_166_734,
  /** For migrations: one process migrates, the others wait for it. */
  migrate: 7_166_735,
  /** Taken with a partner's id, 0 for the widget: facts are read and marks inserted in one step. Several ascending. */
  intakePartner: 7_166_736,
  /** The key of the map at / is issued once. */
  consumerKey: 7_166_737,
  /** Taken with the hash of the imported data ("stations of osm"): one import of it at a time. */
  importSource: 7_166_738,
  /** Taken with the hash of a source or a city: its harmful changes are counted one by one. Several ascending. */
  review: 7_166_739,
  /** One process at a time drops partitions of marks. Held by a session, not by a transaction. */
  dropPartitions: 7_166_740,
  /** Numbers of changes by time follow the order of commits. After rows of stations, the last before commit. */
  timeChanges: 7_166_741,
  /** One process at a time makes the insights of past days. */
  insightDays: 7_166_742,
  /** Taken with the hash of a device or a network: its suggestions about stations are stored one by one. Several ascending. */
  suggestions: 7_166_743,
  /** One command at a time builds the indexes anew. Held by a session. */
  rebuildIndexes: 7_166_744,
} as const;

/** `skip` leaves out stations that somebody else has locked. */
export type Locking = "wait" | "skip";

/**
 * Locks the stations' states, in ascending order as everywhere. Stations that do not exist are left out. Facts about
 * the others must be read in a later statement.
 */
export async function lockStations(
  tx: Statements,
  stationIds: readonly string[],
  locking: Locking,
): Promise<string[]> {
  const locked = await rows<{ station_id: string }>(
    tx,
    "select lock_stations(?::text[], ?) as station_id",
    [[...new Set(stationIds)], locking === "skip"],
    "lock_stations",
  );
  return locked.map((row) => row.station_id);
}

/**
 * Stops the intake of marks of these partners (0 for the map) until the commit; locks in ascending order, as
 * everywhere. Facts about the marks must be read in a later statement.
 */
export async function lockIntake(tx: Statements, partners: Iterable<number>): Promise<void> {
  const scopes = [...new Set(partners)].sort((a, b) => a - b);
  const sql = `select pg_advisory_xact_lock(${lockIds.intakePartner}, scope) from unnest(?::int[]) as scope`;
  await rows(tx, sql, [scopes], "lock_scopes");
}

/** A mark or an import of a station, with the time from which it counts or no longer counts, ms. */
export interface ChangedEvent {
  station_id: string;
  at: number;
}

/**
 * Asks the marks worker to fold the stations of these events anew, each from its earliest event on. The stations must
 * be locked. `refold` without a time refolds the whole history.
 */
export const askRefold = async (
  tx: Statements,
  changed: readonly ChangedEvent[],
): Promise<void> => {
  const sql = `update station_status s set refold = true,
       refold_from = case when s.refold then least(s.refold_from, asked.at) else asked.at end
     from (select station_id, timestamptz 'epoch' + min(ms) * interval '1 ms' as at
           from unnest(?::text[], ?::bigint[]) as u (station_id, ms) group by 1) asked
     where s.station_id = asked.station_id and (not s.refold or s.refold_from > asked.at)`;
  await rows(tx, sql, columnsOf(changed, "station_id", "at"));
};
