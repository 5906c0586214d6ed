import { rows, type Statements } from "#src/infrastructure/db.ts";

/** `skip`: leave stations alone that somebody else is at. */
export type Locking = "wait" | "skip";

/**
 * Locks the stations' states, in ascending order as everywhere. Stations that do not exist are left out.
 * What is read about them must be read in a later statement.
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

/** Has the marks worker fold these stations anew from all their marks. They must be locked. */
export const askRefold = async (tx: Statements, stationIds: readonly string[]): Promise<void> => {
  await rows(tx, "update station_status set refold = true where station_id = any(?::text[])", [
    stationIds,
  ]);
};
