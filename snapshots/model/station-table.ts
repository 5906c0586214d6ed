import { type IdTable, larger, roomFor } from "#src/feed/id-table.ts";
import type { Source, Stations } from "#snapshots/model/block.ts";
import type { Leaf } from "#snapshots/model/block-list.ts";

/** Stands in for a station's number: there is none, or the list ends here. */
export const noStation = -1;

export type StationTable = ReturnType<typeof createStationTable>;

/**
 * The model's facts of each station besides its block, by station number. Columns of numbers take a tenth of the memory
 * of objects. A column is replaced when it grows: read it from the table each time.
 */
export function createStationTable(ids: IdTable) {
  const table = {
    ids,
    /** The leaf that holds its bytes; null when it is out of service. */
    leaf: [] as (Leaf | null)[],
    /** Its slot in the leaf's block. */
    slot: new Uint8Array(),
    /** Later of the feed's time and the last transition that has passed, ms. */
    changedAt: new Float64Array(),
    /** Time of the next transition, a change by the passing of time, ms; Infinity when there is none. */
    nextAt: new Float64Array(),
    /** Neighbours in the list ordered by `changedAt`. */
    older: new Int32Array(),
    newer: new Int32Array(),
    /** The number of a station; `isNew` when the model has not had it before. */
    enter(id: string): [number: number, isNew: boolean] {
      const number = ids.numberOf(id);
      if (number >= table.slot.length) grow(number + 1);
      // Others may have numbered it before: a station that was never entered has no time of change.
      return [number, Number.isNaN(table.changedAt[number])];
    },
    /** The number of a station in service, or `noStation`. */
    find(id: string): number {
      const number = ids.find(id);
      return number !== -1 && (table.leaf[number] ?? null) !== null ? number : noStation;
    },
    /** The block and the slot of a station in service. */
    sourceOf: (station: number): Source => ({
      block: (table.leaf[station] as Leaf).block,
      slot: table.slot[station] as number,
    }),
    addTo(stations: Stations, station: number): void {
      stations.blocks.push((table.leaf[station] as Leaf).block);
      stations.slots.push(table.slot[station] as number);
    },
  };
  const grow = (atLeast: number): void => {
    const from = table.slot.length;
    const length = Math.max(atLeast, roomFor(from), 1024);
    table.slot = larger(table.slot, length);
    table.changedAt = larger(table.changedAt, length).fill(Number.NaN, from);
    table.nextAt = larger(table.nextAt, length).fill(Number.POSITIVE_INFINITY, from);
    table.older = larger(table.older, length).fill(noStation, from);
    table.newer = larger(table.newer, length).fill(noStation, from);
    while (table.leaf.length < length) table.leaf.push(null);
  };
  return table;
}

export type IdOrder = ReturnType<typeof createIdOrder>;

/** Numbers of the stations in service in the order of their ids, for `/stations/all`. */
export function createIdOrder(ids: IdTable) {
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
    stations: (): Uint32Array => order.subarray(0, size),
    /** Index of the first station whose id comes after `id`. */
    after: (id: string): number => first(size, (station) => ids.id(station) > id),
    change(added: readonly number[], removed: ReadonlySet<number>): void {
      if (removed.size > 0) {
        const stay = order.subarray(0, size).filter((station) => !removed.has(station));
        order.set(stay);
        size = stay.length;
      }
      // Moved in place from the end: stations between two new ones move together. Sorting everything again, or copying
      // it into a new list, would stall a large country.
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

export type ChangeOrder = ReturnType<typeof createChangeOrder>;

/** All stations, removed ones too, ordered by (`changedAt`, id): a delta reads from the newest back. */
export function createChangeOrder(table: StationTable) {
  let newest = noStation;
  const isAfter = (a: number, b: number): boolean => {
    const [atA, atB] = [table.changedAt[a] as number, table.changedAt[b] as number];
    return atA === atB ? table.ids.compare(a, b) > 0 : atA > atB;
  };
  return {
    /** The station that changed last, or `noStation`. */
    newest: (): number => newest,
    drop(station: number): void {
      const { older, newer } = table;
      const [before, after] = [older[station] as number, newer[station] as number];
      if (after !== noStation) older[after] = before;
      else if (newest === station) newest = before;
      if (before !== noStation) newer[before] = after;
      older[station] = noStation;
      newer[station] = noStation;
    },
    /** Moves stations to the place of their new `changedAt`. Call `drop` before that column changes. */
    place(stations: number[]): void {
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

/**
 * Finds the stations whose next transition has come. One pass along `nextAt` takes less than a millisecond for 150,000
 * stations, and is made only when the earliest transition is due.
 */
export function createTransitions(table: StationTable) {
  let earliest = Infinity;
  return {
    /** Call it after a station got a new `nextAt`. */
    note(station: number): void {
      earliest = Math.min(earliest, table.nextAt[station] as number);
    },
    /** The stations with a transition at or before `now`. Each of them gets a new `nextAt` before the next call. */
    due(now: number): number[] {
      if (now < earliest) return [];
      const due: number[] = [];
      earliest = Infinity;
      for (let station = 0; station < table.nextAt.length; station++) {
        const at = table.nextAt[station] as number;
        if (at <= now) due.push(station);
        else if (at < earliest) earliest = at;
      }
      return due;
    },
  };
}
