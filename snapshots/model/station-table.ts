import { type IdTable, larger, roomFor } from "#src/feed/id-table.ts";
import type { Leaf } from "#snapshots/model/block-tree.ts";

/** No station: the end of a list, or not in one. */
export const nobody = -1;

/**
 * What the model knows of each station beside its page, by station number. Columns of numbers take a tenth of the
 * memory of objects. A column is replaced when it grows: read it from the table each time.
 */
export interface StationTable {
  readonly ids: IdTable;
  /** Where its bytes are; null when it was taken out of service. */
  leaf: (Leaf | null)[];
  /** Its place in the leaf's page. */
  slot: Uint8Array;
  /** Later of the feed's time and the last passed instant, ms. */
  changedAt: Float64Array;
  /** The next instant at which time alone changes it, ms; Infinity when there is none. */
  nextAt: Float64Array;
  /** Its place in the heap of instants. */
  heapIndex: Int32Array;
  /** Neighbours in the list ordered by `changedAt`. */
  older: Int32Array;
  newer: Int32Array;
  /** The number of a station; true when the model has not had it before. */
  enter(id: string): [number: number, isNew: boolean];
  /** The number of a station in service, or -1. */
  find(id: string): number;
}

export function createStationTable(ids: IdTable): StationTable {
  const table: StationTable = {
    ids,
    leaf: [],
    slot: new Uint8Array(),
    changedAt: new Float64Array(),
    nextAt: new Float64Array(),
    heapIndex: new Int32Array(),
    older: new Int32Array(),
    newer: new Int32Array(),
    enter(id) {
      const number = ids.numberOf(id);
      if (number >= table.slot.length) grow(number + 1);
      // Others may have numbered it before: what was never entered has no time of change.
      return [number, Number.isNaN(table.changedAt[number])];
    },
    find(id) {
      const number = ids.find(id);
      return number !== -1 && (table.leaf[number] ?? null) !== null ? number : nobody;
    },
  };
  const grow = (atLeast: number): void => {
    const from = table.slot.length;
    const length = Math.max(atLeast, roomFor(from), 1024);
    table.slot = larger(table.slot, length);
    table.changedAt = larger(table.changedAt, length).fill(Number.NaN, from);
    table.nextAt = larger(table.nextAt, length).fill(Number.POSITIVE_INFINITY, from);
    table.heapIndex = larger(table.heapIndex, length).fill(nobody, from);
    table.older = larger(table.older, length).fill(nobody, from);
    table.newer = larger(table.newer, length).fill(nobody, from);
    while (table.leaf.length < length) table.leaf.push(null);
  };
  return table;
}
