import { noSales, type Status } from "#src/domain/vocabulary.ts";
import { emptyState, type StationState } from "#src/domain/state.ts";
import type { Db } from "#src/infrastructure/db.ts";

export interface Entry {
  id: string;
  lat: number;
  lon: number;
  brand?: string;
  name?: string;
  addr?: string;
  grades_sold?: string;
  opening_hours?: string;
  closed?: string;
  state?: StationState;
}

/** A state that serves `status` since `updated` (ms). */
export const serving = (
  status: Status,
  updated: number,
  details: Partial<NonNullable<StationState["served"]>["details"]> = {},
): StationState => ({
  ...emptyState,
  served: {
    status,
    updated,
    confirmations: 1,
    realCount: 1,
    details: {
      fuelsNow: [],
      fuelsNo: [],
      queue: "",
      limitL: null,
      noCash: false,
      fuelCardsOnly: false,
      ...details,
    },
  },
  lastUpdated: updated,
});

/** Writes stations with their states and stamps them, in one transaction, as an import or a worker does. */
export const writeStations = (db: Db, entries: readonly Entry[]): Promise<void> =>
  db.transaction(async (tx) => {
    for (const { state, ...facts } of entries) {
      const { id } = facts;
      const unsaid = { brand: "", name: "", addr: "", ...noSales };
      const station = { source: "test", ...unsaid, ...facts };
      await tx("stations").insert(station).onConflict("id").merge();
      if (state === undefined) continue;
      const status = { station_id: id, state: JSON.stringify(state) };
      await tx("station_status").insert(status).onConflict("station_id").merge();
    }
    await tx.raw("select feed_stamp(?::text[])", [entries.map(({ id }) => id)] as never);
  });

/** Takes a station out of service. */
export const removeStation = (db: Db, id: string): Promise<void> =>
  db.transaction(async (tx) => {
    await tx("stations")
      .where({ id })
      .update({ removed_at: tx.raw("server_now()") });
    await tx.raw("select feed_stamp(?::text[], true)", [[id]] as never);
  });
