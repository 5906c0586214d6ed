import { type IdTable, larger, roomFor } from "#src/feed/id-table.ts";
import { noStation, type StationTable } from "#snapshots/model/station-table.ts";

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

  /** Index of the first of the `end` first stations for which `isAfter` holds. */
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
      // From the end, in place: what lies between two new stations moves as a whole. Sorting everything again, or
      // copying it into a new list, would stall a large country.
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

/** All stations, removed ones too, ordered by (`changedAt`, id): a delta reads from the newest back. */
export interface ChangeOrder {
  /** Moves stations to where their new `changedAt` belongs. Call `drop` before that column changes. */
  place(stations: number[]): void;
  drop(station: number): void;
  /** The station that changed last, or `noStation`. */
  newest(): number;
}

export function createChangeOrder(table: StationTable): ChangeOrder {
  let newest = noStation;
  const isAfter = (a: number, b: number): boolean => {
    const [atA, atB] = [table.changedAt[a] as number, table.changedAt[b] as number];
    return atA === atB ? table.ids.compare(a, b) > 0 : atA > atB;
  };
  return {
    newest: () => newest,
    drop(station) {
      const { older, newer } = table;
      const [before, after] = [older[station] as number, newer[station] as number];
      if (after !== noStation) older[after] = before;
      else if (newest === station) newest = before;
      if (before !== noStation) newer[before] = after;
      older[station] = noStation;
      newer[station] = noStation;
    },
    place(stations) {
      // Newest first, in one pass along the list: changes belong near its end, a first load is a sort.
      stations.sort((a, b) => (isAfter(a, b) ? -1 : 1));
      const { older, newer } = table;
      let after = noStation;
      let before = newest;
      for (const station of stations) {
        while (before !== noStation && isAfter(before, station)) {
          after = before;
          before = older[before] as number;
        }
        newer[station] = after;
        older[station] = before;
        if (after === noStation) newest = station;
        else older[after] = station;
        if (before !== noStation) newer[before] = station;
        after = station;
      }
    },
  };
}

/** Stations by their next transition. Each is in the heap at most once, so that a busy station costs no memory. */
export interface TransitionHeap {
  /** Puts a station at its `nextAt`; takes it out when that is Infinity. */
  place(station: number): void;
  /** Takes out the station with the earliest transition at or before `now`; `noStation` when there is none. */
  due(now: number): number;
}

export function createTransitionHeap(table: StationTable): TransitionHeap {
  const heap: number[] = [];
  const put = (station: number, index: number): void => {
    heap[index] = station;
    table.heapIndex[station] = index;
  };
  const at = (index: number): number =>
    index < heap.length ? (table.nextAt[heap[index] as number] as number) : Infinity;

  /** Puts a station where it belongs, starting at the index `from`. */
  const sift = (station: number, from: number): void => {
    const until = table.nextAt[station] as number;
    let index = from;
    for (
      let parent = (index - 1) >> 1;
      index > 0 && at(parent) > until;
      parent = (index - 1) >> 1
    ) {
      put(heap[parent] as number, index);
      index = parent;
    }
    for (;;) {
      const left = index * 2 + 1;
      const child = at(left + 1) < at(left) ? left + 1 : left;
      if (at(child) >= until) break;
      put(heap[child] as number, index);
      index = child;
    }
    put(station, index);
  };

  const take = (station: number): void => {
    const index = table.heapIndex[station] as number;
    if (index === noStation) return;
    table.heapIndex[station] = noStation;
    const last = heap.pop() as number;
    if (last !== station) sift(last, index);
  };

  return {
    place(station) {
      if (table.nextAt[station] === Infinity) return take(station);
      const index = table.heapIndex[station] as number;
      sift(station, index === noStation ? heap.length : index);
    },
    due(now) {
      const first = heap[0];
      if (first === undefined || (table.nextAt[first] as number) > now) return noStation;
      take(first);
      return first;
    },
  };
}
