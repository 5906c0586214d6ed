import type { IdTable } from "#src/id-table.ts";

/** Numbers of the stations in service in the order of their ids, for `/stations/all`. */
export interface IdOrder {
  stations(): Uint32Array;
  /** Index of the first station whose id comes after `id`. */
  after(id: string): number;
  change(added: readonly number[], removed: ReadonlySet<number>): void;
}

export function createIdOrder(ids: IdTable): IdOrder {
  let order = new Uint32Array();

  /** Index of the first station, from `low` on, that `isAfter` says yes to. */
  const first = (low: number, isAfter: (station: number) => boolean): number => {
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAfter(order[middle] as number)) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  return {
    stations: () => order,
    after: (id) => first(0, (station) => ids.id(station) > id),
    change(added, removed) {
      if (removed.size > 0) order = order.filter((station) => !removed.has(station));
      if (added.length === 0) return;
      // What lies between two new ones is copied as a whole: sorting all again would stall a large country.
      const merged = new Uint32Array(order.length + added.length);
      let [from, to] = [0, 0];
      for (const station of added.toSorted(ids.compare)) {
        const until = first(from, (other) => ids.compare(other, station) > 0);
        merged.set(order.subarray(from, until), to);
        to += until - from;
        merged[to++] = station;
        from = until;
      }
      merged.set(order.subarray(from), to);
      order = merged;
    },
  };
}
