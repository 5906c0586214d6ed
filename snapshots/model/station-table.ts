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
