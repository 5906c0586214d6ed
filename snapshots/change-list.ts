import type { Station } from "#snapshots/station.ts";

/** All stations, removed ones too, ordered by (`changedAt`, id): a delta reads from its newer end. */
export interface ChangeList {
  /** Moves stations to where their new `changedAt` belongs. Call `drop` before that field changes. */
  place(stations: Station[]): void;
  drop(station: Station): void;
  newest(): Station | null;
}

const isAfter = (a: Station, b: Station): boolean =>
  a.changedAt === b.changedAt ? a.id > b.id : a.changedAt > b.changedAt;

export function createChangeList(): ChangeList {
  let newest: Station | null = null;
  return {
    newest: () => newest,
    drop(station) {
      if (station.newer !== null) station.newer.older = station.older;
      else if (newest === station) newest = station.older;
      if (station.older !== null) station.older.newer = station.newer;
      station.older = null;
      station.newer = null;
    },
    place(stations) {
      // Newest first, in one pass along the list: changes belong near its end, a first load is a sort.
      stations.sort((a, b) => (isAfter(a, b) ? -1 : 1));
      let newer: Station | null = null;
      let older = newest;
      for (const station of stations) {
        while (older !== null && isAfter(older, station)) {
          newer = older;
          older = older.older;
        }
        station.newer = newer;
        station.older = older;
        if (newer === null) newest = station;
        else newer.older = station;
        if (older !== null) older.newer = station;
        newer = station;
      }
    },
  };
}
