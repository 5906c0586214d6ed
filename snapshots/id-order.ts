import type { Station } from "#snapshots/station.ts";

/** The stations in service in the order of their ids, for `/stations/all`. */
export interface IdOrder {
  stations(): readonly Station[];
  /** Index of the first station whose id comes after `id`. */
  after(id: string): number;
  change(added: readonly Station[], removed: ReadonlySet<Station>): void;
}

/** Changes up to this many are inserted one by one; more are merged in one pass. */
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
        order = merge(
          order.filter((station) => !removed.has(station)),
          added.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        );
        return;
      }
      for (const station of removed) order.splice(after(station.id) - 1, 1);
      for (const station of added) order.splice(after(station.id), 0, station);
    },
  };
}

/** One list of two that are in order: sorting the whole again would stall a large country. */
function merge(a: readonly Station[], b: readonly Station[]): Station[] {
  const merged: Station[] = [];
  let next = 0;
  for (const station of b) {
    while (next < a.length && (a[next] as Station).id < station.id)
      merged.push(a[next++] as Station);
    merged.push(station);
  }
  while (next < a.length) merged.push(a[next++] as Station);
  return merged;
}
