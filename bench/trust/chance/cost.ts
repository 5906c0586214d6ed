import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createChances } from "#src/domain/chance/chances.ts";
import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import type { Played } from "#bench/trust/chance/measure.ts";

export interface Cost {
  stations: number;
  markUs: number;
  readingUs: number;
  bytesAStation: number;
}

const copies = 20;
const readings = 10;

/** CPU time of the process and its memory, with `copies` countries of the same marks in one model. */
export function costOf({ country, counted, window }: Played): Cost {
  const before = collectedHeap();
  const chances = createChances(shippedNumbers, () => 0);
  const spent = { marks: 0, readings: 0 };
  const timed = (what: keyof typeof spent, work: () => void): void => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    spent[what] += user + system;
  };
  const numbers = Array.from({ length: copies }, (_, copy) => copy);
  timed("marks", () => {
    for (const mark of counted)
      chances.take(
        numbers.map((copy) => ({
          ...mark,
          stationId: `${copy} ${mark.stationId}`,
          sourceId: mark.sourceId === null ? null : copy * 10 + mark.sourceId,
          reporterId: copy * 1e6 + mark.reporterId,
        })),
      );
  });
  const bytes = collectedHeap() - before;
  const ids = country.stations.flatMap(({ id }) => numbers.map((copy) => `${copy} ${id}`));
  timed("readings", () => {
    for (let n = 1; n <= readings; n += 1)
      for (const id of ids) chances.chanceAt(id, window.until + n * (hourMs / 2 + 7 * minuteMs));
  });
  return {
    stations: ids.length,
    markUs: spent.marks / counted.length / copies,
    readingUs: spent.readings / ids.length / readings,
    bytesAStation: bytes / ids.length,
  };
}

/** Bytes of the heap that are in use. */
export function collectedHeap(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
