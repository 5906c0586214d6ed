import { distanceM, type Point } from "#src/domain/geo.ts";
import { compileArea, type Area } from "#snapshots/model/area.ts";
import type { Block, Source } from "#snapshots/model/block.ts";
import type { BlockTree } from "#snapshots/model/block-tree.ts";
import type { Matcher } from "#snapshots/model/filters.ts";
import { inRegion } from "#snapshots/model/selection.ts";

/** A station and its distance to the centre of the area asked for, metres. */
export interface Ranked extends Source {
  station: number;
  distance: number;
}

interface Asked {
  area: Area;
  matcher: Matcher | null;
  limit: number;
  /** The order of stations by their ids. */
  byId: (a: number, b: number) => number;
}

/** So many more than the limit are gathered before the farthest are dropped: each dropping looks at all of them. */
const spare = 512;

/**
 * The `limit` stations of an area nearest to its centre that pass, ties by id, in no order (docs/decisions.md 7.8);
 * `truncated` when others pass too. Looks at the blocks in the order of their distance, and at none that is farther
 * than the last station kept: filters and distances of a whole country cost 12 ms, those of 4000 stations 2.
 */
export function findNearest(
  tree: BlockTree,
  { area, matcher, limit, byId }: Asked,
): { kept: Ranked[]; truncated: boolean } {
  const region = compileArea(area);
  const blocks: { block: Block; covered: boolean; reach: number }[] = [];
  tree.walk(
    region,
    () => {},
    (block, covered, box) => blocks.push({ block, covered, reach: reachOf(region.centre, box) }),
  );
  blocks.sort((a, b) => a.reach - b.reach);

  const found = createFound(limit);
  for (const { block, covered, reach } of blocks) {
    if (reach > found.farthest()) break;
    const within = covered ? null : inRegion(region, block);
    const chosen = matcher === null ? within : matcher(block, within);
    for (let slot = 0; slot < block.stations.length; slot++) {
      if (chosen !== null && chosen[slot] !== 1) continue;
      const lat = block.coordinates[slot * 2] as number;
      const lon = block.coordinates[slot * 2 + 1] as number;
      found.add(block, slot, distanceM(region.centre, { lat, lon }));
    }
    found.drop();
  }
  return { kept: cut(found.stations(), limit, byId), truncated: found.truncated() };
}

/** The nearest stations so far, in columns: most of them are dropped again. */
function createFound(limit: number) {
  const blocks: Block[] = [];
  const slots: number[] = [];
  const distances: number[] = [];
  let farthest = Infinity;
  return {
    /** No station farther than this is among the nearest. */
    farthest: () => farthest,
    truncated: () => farthest < Infinity,
    add(block: Block, slot: number, distance: number): void {
      if (distance > farthest) return;
      blocks.push(block);
      slots.push(slot);
      distances.push(distance);
    },
    /** Drops the farthest, once there are more than the limit, and again when there are many more. */
    drop(): void {
      if (distances.length <= limit + (farthest < Infinity ? spare : 0)) return;
      farthest = new Float64Array(distances).sort()[limit - 1] as number;
      let to = 0;
      for (let i = 0; i < distances.length; i++) {
        if ((distances[i] as number) > farthest) continue;
        blocks[to] = blocks[i] as Block;
        slots[to] = slots[i] as number;
        distances[to++] = distances[i] as number;
      }
      blocks.length = slots.length = distances.length = to;
    },
    stations: (): Ranked[] =>
      blocks.map((block, i) => {
        const slot = slots[i] as number;
        const station = block.stations[slot] as number;
        return { block, slot, station, distance: distances[i] as number };
      }),
  };
}

/** Parts of a metre that `sortByDistance` tells apart at first. */
const perMetre = 64;

/**
 * Nearest first, ties by id. Numbers that hold distance and place are sorted first, which takes a fifth of the time of
 * comparing stations; then those few are put right that the distance in whole parts of a metre does not tell apart.
 */
export function sortByDistance(ranked: readonly Ranked[], byId: Asked["byId"]): Ranked[] {
  const keys = new Float64Array(ranked.length);
  ranked.forEach(({ distance }, i) => {
    keys[i] = Math.floor(distance * perMetre) * ranked.length + i;
  });
  const sorted = Array.from(keys.sort(), (key) => ranked[key % ranked.length] as Ranked);
  const partsOf = (i: number): number => Math.floor((sorted[i]?.distance ?? NaN) * perMetre);
  for (let from = 0, to = 1; from < sorted.length; from = to++) {
    while (partsOf(to) === partsOf(from)) to++;
    if (to - from < 2) continue;
    const near = sorted
      .slice(from, to)
      .sort((a, b) => a.distance - b.distance || byId(a.station, b.station));
    sorted.splice(from, near.length, ...near);
  }
  return sorted;
}

/** Only those at the same distance as the last one have to be put in order. */
function cut(kept: Ranked[], limit: number, byId: Asked["byId"]): Ranked[] {
  if (kept.length <= limit) return kept;
  const distances = new Float64Array(kept.length);
  kept.forEach(({ distance }, i) => (distances[i] = distance));
  const last = distances.sort()[limit - 1] as number;
  const nearer = kept.filter(({ distance }) => distance < last);
  const equal = kept
    .filter(({ distance }) => distance === last)
    .sort((a, b) => byId(a.station, b.station));
  return [...nearer, ...equal.slice(0, limit - nearer.length)];
}

/** Metres that rounding may take from a distance of half the globe. */
const rounding = 0.001;

/** No station of a box (south, west, north, east) is nearer to the point than this, metres. */
export function reachOf({ lat, lon }: Point, box: Float64Array): number {
  const [south, west, north, east] = box as unknown as [number, number, number, number];
  const gapLat = Math.max(south - lat, 0, lat - north);
  const gapLon = lon >= west && lon <= east ? 0 : Math.min(turn(west - lon), turn(lon - east));
  // The haversine formula with the least that each part of it can be.
  const narrowest = Math.min(cosine(south), cosine(north));
  const h = half(gapLat) + cosine(lat) * narrowest * half(gapLon);
  const around = distanceM({ lat: 0, lon: 0 }, { lat: 0, lon: 180 });
  return (around / Math.PI) * 2 * Math.asin(Math.min(1, Math.sqrt(h))) - rounding;
}

/** Degrees to go, at most half around the globe: the way to a box's edge may be shorter across 180°. */
const turn = (degrees: number): number => {
  const around = ((degrees % 360) + 360) % 360;
  return Math.min(around, 360 - around);
};
const cosine = (degrees: number): number => Math.cos((degrees * Math.PI) / 180);
const half = (degrees: number): number => Math.sin((degrees * Math.PI) / 360) ** 2;
