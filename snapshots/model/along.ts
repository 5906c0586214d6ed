import type { Point } from "#src/domain/geo.ts";
import { boxOf, measureFrom, stretchesOf } from "#src/domain/way.ts";
import { compileArea, type BlockList } from "#snapshots/model/block-list.ts";
import type { Block, Source } from "#snapshots/model/block.ts";
import type { Matcher } from "#snapshots/model/filters.ts";

/** A station beside a way: metres from the beginning to the place where the way comes nearest, and from there. */
export interface Beside extends Source {
  station: number;
  atM: number;
  offM: number;
}

/**
 * The stations within `bufferM` of a line that pass, in the order of the way, ties by id; each once, where the line
 * comes nearest to it. Between two points the line is straight in degrees, as GeoJSON has it, and takes the shorter way
 * around the globe.
 */
export function findAlong(
  list: BlockList,
  line: readonly Point[],
  bufferM: number,
  passes: Matcher | null,
  byId: (a: number, b: number) => number,
): Beside[] {
  const nearest = new Map<number, Beside>();
  const passing = new Map<Block, Uint8Array>();
  for (const stretch of stretchesOf(line)) {
    const measure = measureFrom(stretch);
    const region = compileArea({ kind: "box", box: boxOf(stretch, bufferM) });
    list.walk(region, ({ block }) => {
      let chosen = passing.get(block);
      if (chosen === undefined && passes !== null)
        passing.set(block, (chosen = passes(block, null)));
      for (let slot = 0; slot < block.stations.length; slot += 1) {
        if (chosen !== undefined && chosen[slot] !== 1) continue;
        const lat = block.coordinates[slot * 2] as number;
        const lon = block.coordinates[slot * 2 + 1] as number;
        const { atM, offM } = measure(lat, lon);
        const station = block.stations[slot] as number;
        if (offM <= bufferM && offM < (nearest.get(station)?.offM ?? Infinity))
          nearest.set(station, { block, slot, station, atM, offM });
      }
    });
  }
  return [...nearest.values()].sort((x, y) => x.atM - y.atM || byId(x.station, y.station));
}
