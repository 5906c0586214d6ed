import type { Station } from "#snapshots/station.ts";

/** The stations in service in the order of their ids, for `/stations/all`. */
export interface IdOrder {
  stations(): readonly Station[];
  /** Index of the first station whose id comes after `id`. */
  after(id: string): number;
  change(added: readonly Station[], removed: ReadonlySet<Station>): void;
}

/** Changes up to this many are inserted one by one; more are merged by one sort. */
const fewChanges = 32;

export function createIdOrder(): IdOrder {
  let order: Station[] = [];
  const after = (id: string): number => {
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((order[middle] as Station).id > id) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return {
    stations: () => order,
    after,
    change(added, removed) {
      if (added.length + removed.size > fewChanges) {
        const kept = removed.size > 0 ? order.filter((station) => !removed.has(station)) : order;
        order = [...kept, ...added].sort((a, b) => (a.id < b.id ? -1 : 1));
        return;
      }
      for (const station of removed) order.splice(after(station.id) - 1, 1);
      for (const station of added) order.splice(after(station.id), 0, station);
    },
  };
}
