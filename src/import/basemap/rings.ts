/** Ids of a way's nodes. */
type Refs = readonly number[];

/**
 * Joins ways to closed rings where one ends and another begins. Null if some are left that close no ring: such a
 * relation is broken or cut by the border of the extract.
 */
export function joinRings(ways: readonly Refs[]): number[][] | null {
  const rings: number[][] = [];
  const ends = new Map<number, Refs[]>();
  const note = (node: number, way: Refs): void => {
    const there = ends.get(node);
    if (there === undefined) ends.set(node, [way]);
    else there.push(way);
  };
  const open: Refs[] = [];
  for (const way of ways) {
    if (way.length < 2) continue;
    if (way[0] === way.at(-1)) rings.push([...way]);
    else {
      open.push(way);
      note(way[0]!, way);
      note(way.at(-1)!, way);
    }
  }
  const used = new Set<Refs>();
  for (const first of open) {
    if (used.has(first)) continue;
    used.add(first);
    const ring = [...first];
    while (ring.at(-1) !== ring[0]) {
      const end = ring.at(-1)!;
      const next = ends.get(end)?.find((way) => !used.has(way));
      if (next === undefined) return null;
      used.add(next);
      const onward = next[0] === end ? next : next.toReversed();
      for (let n = 1; n < onward.length; n++) ring.push(onward[n]!);
    }
    rings.push(ring);
  }
  return rings.some(({ length }) => length < 4) ? null : rings;
}

/** A ring as lon and lat (or x and y) by turns, its first point again at its end. */
export type Ring = Int32Array;

/** Each outer ring with the inner ones that lie in it. An inner ring in none of them is left out. */
export function polygonsOf(outer: readonly Ring[], inner: readonly Ring[]): Ring[][] {
  const polygons = outer.map((ring) => [ring]);
  const bySize = polygons.toSorted(([a], [b]) => sizeOf(a!) - sizeOf(b!));
  for (const hole of inner) bySize.find(([ring]) => liesIn(hole, ring!))?.push(hole);
  return polygons;
}

function sizeOf(ring: Ring): number {
  const { west, south, east, north } = boxOf(ring);
  return (east - west) * (north - south);
}

export interface Box {
  west: number;
  south: number;
  east: number;
  north: number;
}

export function boxOf(points: ArrayLike<number>): Box {
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
  for (let n = 0; n < points.length; n += 2) {
    box.west = Math.min(box.west, points[n]!);
    box.east = Math.max(box.east, points[n]!);
    box.south = Math.min(box.south, points[n + 1]!);
    box.north = Math.max(box.north, points[n + 1]!);
  }
  return box;
}

/** By most of the ring's points: one or the other may touch the outer ring. */
function liesIn(ring: Ring, outer: Ring): boolean {
  let [inside, asked] = [0, 0];
  const step = Math.max(1, Math.floor(ring.length / 2 / 5)) * 2;
  for (let n = 0; n < ring.length - 2; n += step) {
    asked += 1;
    if (contains(outer, ring[n]!, ring[n + 1]!)) inside += 1;
  }
  return inside * 2 > asked;
}

/** Whether a ray from the point crosses the ring an odd number of times. */
function contains(ring: ArrayLike<number>, x: number, y: number): boolean {
  let inside = false;
  for (let n = 0; n + 3 < ring.length; n += 2) {
    const [ax, ay, bx, by] = [ring[n]!, ring[n + 1]!, ring[n + 2]!, ring[n + 3]!];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

const tries = 9;

/** A point of an area (its outer ring, then holes), as near to the middle as a coarse grid has one. */
export function pointIn([outer, ...holes]: readonly Ring[]): [x: number, y: number] {
  const { west, south, east, north } = boxOf(outer!);
  const [x, y] = [(west + east) / 2, (south + north) / 2];
  const parts = Array.from({ length: tries * tries }, (_, n) => [
    (n % tries) / (tries + 1) - (tries - 1) / 2 / (tries + 1),
    Math.floor(n / tries) / (tries + 1) - (tries - 1) / 2 / (tries + 1),
  ]).sort(([ax, ay], [bx, by]) => Math.hypot(ax!, ay!) - Math.hypot(bx!, by!));
  for (const [right, up] of parts) {
    const point: [number, number] = [x + right! * (east - west), y + up! * (north - south)];
    if (contains(outer!, ...point) && !holes.some((hole) => contains(hole, ...point))) return point;
  }
  return [outer![0]!, outer![1]!];
}
