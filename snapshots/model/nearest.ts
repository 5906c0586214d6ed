import quickselect from "quickselect";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { compileArea, type Area, type BlockList } from "#snapshots/model/block-list.ts";
import type { Block, Stations } from "#snapshots/model/block.ts";
import type { Matcher } from "#snapshots/model/filters.ts";
import { inRegion } from "#snapshots/model/area-selection.ts";

interface NearestQuery {
  area: Area;
  matcher: Matcher | null;
  limit: number;
  /** The order of stations by their ids. */
  byId: (a: number, b: number) => number;
}

/** Stations gathered beyond the limit before the farthest are dropped: each dropping looks at all of them. */
const spare = 512;

/**
 * The `limit` stations of an area nearest to its centre that pass, nearest first, ties by id (decisions 7.8);
 * `truncated` when others pass too. Looks at the blocks in the order of their distance, and at none that is farther
 * than the last station kept: filters and distances of a whole country cost 12 ms, those of 4000 stations 2.
 */
export function findNearest(
  list: BlockList,
  { area, matcher, limit, byId }: NearestQuery,
): { kept: Stations; truncated: boolean } {
  const region = compileArea(area);
  const blocks: { block: Block; covered: boolean; reach: number }[] = [];
  list.walk(region, ({ block, box }, covered) =>
    blocks.push({ block, covered, reach: reachOf(region.centre, box) }),
  );
  blocks.sort((a, b) => a.reach - b.reach);

  const near: Near = { blocks: [], slots: [], distances: [] };
  /** No station farther than this is among the nearest. */
  let farthest = Infinity;
  const point = { lat: 0, lon: 0 };
  for (const { block, covered, reach } of blocks) {
    if (reach > farthest) break;
    const within = covered ? null : inRegion(region, block);
    const chosen = matcher === null ? within : matcher(block, within);
    for (let slot = 0; slot < block.stations.length; slot++) {
      if (chosen !== null && chosen[slot] !== 1) continue;
      point.lat = block.coordinates[slot * 2] as number;
      point.lon = block.coordinates[slot * 2 + 1] as number;
      const distance = distanceM(region.centre, point);
      if (distance > farthest) continue;
      near.blocks.push(block);
      near.slots.push(slot);
      near.distances.push(distance);
    }
    if (near.slots.length > limit + (farthest < Infinity ? spare : 0))
      farthest = dropFarthest(near, limit);
  }
  return { kept: inOrder(near, limit, byId), truncated: farthest < Infinity };
}

/**
 * The nearest stations so far, in columns: most are dropped again, and objects for all were a third of the time. Typed
 * arrays lie outside V8's heap: 140 KB for each search had it collect the whole heap every few answers.
 */
interface Near extends Stations {
  distances: number[];
}

/** Keeps the `limit` nearest and those as far as the last of them. Returns its distance. */
function dropFarthest({ blocks, slots, distances }: Near, limit: number): number {
  const parted = distances.slice();
  quickselect(parted, limit - 1);
  const farthest = parted[limit - 1] as number;
  let to = 0;
  for (let i = 0; i < distances.length; i++) {
    const distance = distances[i] as number;
    if (distance > farthest) continue;
    blocks[to] = blocks[i] as Block;
    slots[to] = slots[i] as number;
    distances[to++] = distance;
  }
  for (const column of [blocks, slots, distances]) column.length = to;
  return farthest;
}

/** The `limit` nearest, nearest first. */
function inOrder(
  { blocks, slots, distances }: Near,
  limit: number,
  byId: NearestQuery["byId"],
): Stations {
  const stationOf = (i: number): number =>
    (blocks[i] as Block).stations[slots[i] as number] as number;
  const order = orderByDistance(distances, (a, b) => byId(stationOf(a), stationOf(b)));
  const stations: Stations = { blocks: [], slots: [] };
  for (let n = 0; n < order.length && n < limit; n++) {
    const i = order[n] as number;
    stations.blocks.push(blocks[i] as Block);
    stations.slots.push(slots[i] as number);
  }
  return stations;
}

/** Parts of a metre that `orderByDistance` tells apart at first. */
const perMetre = 64;

/**
 * The places of the distances (m) in their order, ties by `byTie`. Numbers that hold distance and place are sorted
 * first, which takes a fifth of the time of comparing stations; then the few with the same distance in whole parts of
 * a metre are put right.
 */
export function orderByDistance(
  distances: readonly number[],
  byTie: (a: number, b: number) => number,
): Uint32Array {
  const count = distances.length;
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++)
    keys[i] = Math.floor((distances[i] as number) * perMetre) * count + i;
  keys.sort();
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = (keys[i] as number) % count;
  const partsOf = (i: number): number => Math.floor((keys[i] as number) / count);
  for (let from = 0, to = 1; from < count; from = to++) {
    while (to < count && partsOf(to) === partsOf(from)) to++;
    if (to - from < 2) continue;
    order
      .subarray(from, to)
      .sort((a, b) => (distances[a] as number) - (distances[b] as number) || byTie(a, b));
  }
  return order;
}

/** Metres that rounding may take from a distance of half the globe. */
const rounding = 0.001;

/** No station of a box (south, west, north, east) is nearer to the point than this, metres. */
export function reachOf({ lat, lon }: Point, box: Float64Array): number {
  // A destructuring pattern would make an iterator for columns.
  const south = box[0] as number;
  const west = box[1] as number;
  const north = box[2] as number;
  const east = box[3] as number;
  const gapLat = Math.max(south - lat, 0, lat - north);
  const gapLon = lon >= west && lon <= east ? 0 : Math.min(angle(west - lon), angle(lon - east));
  // The haversine formula with the least that each part of it can be.
  const narrowest = Math.min(cosine(south), cosine(north));
  const h = half(gapLat) + cosine(lat) * narrowest * half(gapLon);
  const around = distanceM({ lat: 0, lon: 0 }, { lat: 0, lon: 180 });
  return (around / Math.PI) * 2 * Math.asin(Math.min(1, Math.sqrt(h))) - rounding;
}

/** Degrees to go, at most half around the globe: the way to a box's edge may be shorter across 180°. */
const angle = (degrees: number): number => {
  const around = ((degrees % 360) + 360) % 360;
  return Math.min(around, 360 - around);
};
const cosine = (degrees: number): number => Math.cos((degrees * Math.PI) / 180);
const half = (degrees: number): number => Math.sin((degrees * Math.PI) / 360) ** 2;
