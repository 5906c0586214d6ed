import { nobody, type StationTable } from "#snapshots/model/station-table.ts";

/** All stations, removed ones too, ordered by (`changedAt`, id): a delta reads from its newer end. */
export interface ChangeList {
  /** Moves stations to where their new `changedAt` belongs. Call `drop` before that column changes. */
  place(stations: number[]): void;
  drop(station: number): void;
  /** Its number, or -1. */
  newest(): number;
}

export function createChangeList(table: StationTable): ChangeList {
  let newest = nobody;
  const isAfter = (a: number, b: number): boolean => {
    const [atA, atB] = [table.changedAt[a] as number, table.changedAt[b] as number];
    return atA === atB ? table.ids.compare(a, b) > 0 : atA > atB;
  };
  return {
    newest: () => newest,
    drop(station) {
      const { older, newer } = table;
      const [before, after] = [older[station] as number, newer[station] as number];
      if (after !== nobody) older[after] = before;
      else if (newest === station) newest = before;
      if (before !== nobody) newer[before] = after;
      older[station] = nobody;
      newer[station] = nobody;
    },
    place(stations) {
      // Newest first, in one pass along the list: changes belong near its end, a first load is a sort.
      stations.sort((a, b) => (isAfter(a, b) ? -1 : 1));
      const { older, newer } = table;
      let after = nobody;
      let before = newest;
      for (const station of stations) {
        while (before !== nobody && isAfter(before, station)) {
          after = before;
          before = older[before] as number;
        }
        newer[station] = after;
        older[station] = before;
        if (after === nobody) newest = station;
        else older[after] = station;
        if (before !== nobody) newer[before] = station;
        after = station;
      }
    },
  };
}
