import { nobody, type StationTable } from "#snapshots/model/station-table.ts";

/** Stations by their next instant. Each is in it at most once, so that a busy station costs no memory. */
export interface TransitionHeap {
  /** Puts a station at its `nextAt`; takes it out when that is Infinity. */
  place(station: number): void;
  /** The station with the earliest instant at or before `now`, taken out; -1 when there is none. */
  due(now: number): number;
  /** The earliest instant, ms; Infinity when empty. */
  next(): number;
}

export function createTransitionHeap(table: StationTable): TransitionHeap {
  const heap: number[] = [];
  const put = (station: number, index: number): void => {
    heap[index] = station;
    table.heapIndex[station] = index;
  };
  const at = (index: number): number =>
    index < heap.length ? (table.nextAt[heap[index] as number] as number) : Infinity;

  const rise = (station: number, from: number): void => {
    const until = table.nextAt[station] as number;
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (at(parent) <= until) break;
      put(heap[parent] as number, index);
      index = parent;
    }
    put(station, index);
    sink(station, index);
  };

  const sink = (station: number, from: number): void => {
    const until = table.nextAt[station] as number;
    let index = from;
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
    if (index === nobody) return;
    table.heapIndex[station] = nobody;
    const last = heap.pop() as number;
    if (last !== station) rise(last, index);
  };

  return {
    place(station) {
      if (table.nextAt[station] === Infinity) return take(station);
      const index = table.heapIndex[station] as number;
      if (index === nobody) heap.push(station);
      rise(station, index === nobody ? heap.length - 1 : index);
    },
    due(now) {
      const first = heap[0];
      if (first === undefined || (table.nextAt[first] as number) > now) return nobody;
      take(first);
      return first;
    },
    next: () => at(0),
  };
}
