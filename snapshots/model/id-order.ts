import { type IdTable, larger, roomFor } from "#src/feed/id-table.ts";

/** Numbers of the stations in service in the order of their ids, for `/stations/all`. */
export interface IdOrder {
  stations(): Uint32Array;
  /** Index of the first station whose id comes after `id`. */
  after(id: string): number;
  change(added: readonly number[], removed: ReadonlySet<number>): void;
}

export function createIdOrder(ids: IdTable): IdOrder {
  let order = new Uint32Array(1024);
  let size = 0;

  /** Index of the first of the `end` first stations that `isAfter` says yes to. */
  const first = (end: number, isAfter: (station: number) => boolean): number => {
    let [low, high] = [0, end];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAfter(order[middle] as number)) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  return {
    stations: () => order.subarray(0, size),
    after: (id) => first(size, (station) => ids.id(station) > id),
    change(added, removed) {
      if (removed.size > 0) {
        const stay = order.subarray(0, size).filter((station) => !removed.has(station));
        order.set(stay);
        size = stay.length;
      }
      // From the end, in place: what lies between two new ones moves as a whole. Sorting all again, or into a new
      // list, would stall a large country.
      let end = size;
      size += added.length;
      if (size > order.length) order = larger(order, roomFor(size));
      let to = size;
      for (const station of added.toSorted((a, b) => ids.compare(b, a))) {
        const from = first(end, (other) => ids.compare(other, station) > 0);
        to -= end - from;
        order.copyWithin(to, from, end);
        order[--to] = station;
        end = from;
      }
    },
  };
}
