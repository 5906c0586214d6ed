import type { Station } from "#snapshots/station.ts";

/** Stations by their next instant. Each is in it at most once, so that a busy station costs no memory. */
export interface InstantHeap {
  /** Puts a station at its `nextAt`; takes it out when that is Infinity. */
  place(station: Station): void;
  /** The station with the earliest instant at or before `now`, taken out; undefined when there is none. */
  due(now: number): Station | undefined;
  /** The earliest instant, ms; Infinity when empty. */
  next(): number;
}

export function createInstantHeap(): InstantHeap {
  const heap: Station[] = [];
  const put = (station: Station, index: number): void => {
    heap[index] = station;
    station.heapIndex = index;
  };
  const at = (index: number): number => heap[index]?.nextAt ?? Infinity;

  const rise = (station: Station, from: number): void => {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (at(parent) <= station.nextAt) break;
      put(heap[parent] as Station, index);
      index = parent;
    }
    put(station, index);
    sink(station, index);
  };

  const sink = (station: Station, from: number): void => {
    let index = from;
    for (;;) {
      const left = index * 2 + 1;
      const child = at(left + 1) < at(left) ? left + 1 : left;
      if (at(child) >= station.nextAt) break;
      put(heap[child] as Station, index);
      index = child;
    }
    put(station, index);
  };

  const take = (station: Station): void => {
    const index = station.heapIndex;
    if (index === -1) return;
    station.heapIndex = -1;
    const last = heap.pop() as Station;
    if (last !== station) rise(last, index);
  };

  return {
    place(station) {
      if (station.nextAt === Infinity) return take(station);
      if (station.heapIndex === -1) heap.push(station);
      rise(station, station.heapIndex === -1 ? heap.length - 1 : station.heapIndex);
    },
    due(now) {
      const first = heap[0];
      if (first === undefined || first.nextAt > now) return undefined;
      take(first);
      return first;
    },
    next: () => at(0),
  };
}
