import quickselect from "quickselect";
import { type Box, boxAround, distanceM, type Point } from "#src/domain/geo.ts";
import {
  addStation,
  addSum,
  type Block,
  emptySum,
  isKnown,
  type Sum,
} from "#snapshots/model/block.ts";

/** A place in the list; its block is replaced at every change. */
export interface Leaf {
  block: Block;
  /** South, west, north, east of its stations. */
  box: Float64Array;
  sum: Sum;
  /** The number of its stations that serve a status. */
  known: number;
  group: Group;
}

/** Leaves in a row, which are neighbours on the map: most groups are passed over at once. */
interface Group {
  leaves: readonly Leaf[];
  box: Float64Array;
  sum: Sum;
  count: number;
}
const groupSize = 16;
/** The share of blocks at each edge that `mainBox` leaves out. */
const outlying = 0.05;

/** A block with its rectangle and sum, computed once for each block. */
export function measured(block: Block): Omit<Leaf, "group"> {
  const { coordinates, stations } = block;
  const leaf = { block, box: noBox(), sum: emptySum(), known: 0 };
  for (let slot = 0; slot < stations.length; slot++) {
    takeIn(leaf.box, coordinates, slot * 2, slot * 2);
    addStation(leaf.sum, block, slot);
    if (isKnown(block, slot)) leaf.known += 1;
  }
  return leaf;
}

const noBox = (): Float64Array => Float64Array.of(Infinity, Infinity, -Infinity, -Infinity);

/** Widens a rectangle around two corners, which stand at `low` and `high` of `from`. */
function takeIn(box: Float64Array, from: Float64Array, low: number, high: number): void {
  box[0] = Math.min(box[0] as number, from[low] as number);
  box[1] = Math.min(box[1] as number, from[low + 1] as number);
  box[2] = Math.max(box[2] as number, from[high] as number);
  box[3] = Math.max(box[3] as number, from[high + 1] as number);
}

/** The degrees by which a rectangle grows when it takes in a point. */
export const growth = (box: Float64Array, lat: number, lon: number): number =>
  Math.max((box[0] as number) - lat, 0, lat - (box[2] as number)) +
  Math.max((box[1] as number) - lon, 0, lon - (box[3] as number));

export type BlockList = ReturnType<typeof createBlockList>;

/** The blocks with their rectangles and sums, in kd order. */
export function createBlockList() {
  let leaves: readonly Leaf[] = [];
  let groups: Group[] = [];
  const refresh = (group: Group): void => {
    group.box = noBox();
    group.sum = emptySum();
    group.count = 0;
    for (const { box, sum, block } of group.leaves) {
      takeIn(group.box, box, 0, 2);
      addSum(group.sum, sum);
      group.count += block.stations.length;
    }
  };
  return {
    leaves: (): readonly Leaf[] => leaves,
    /** Takes a new list of leaves. O(blocks). */
    set(newLeaves: readonly Leaf[]): void {
      leaves = newLeaves;
      groups = [];
      for (let from = 0; from < leaves.length; from += groupSize) {
        const group = { leaves: leaves.slice(from, from + groupSize) } as unknown as Group;
        for (const leaf of group.leaves) leaf.group = group;
        refresh(group);
        groups.push(group);
      }
    },
    /** Call it after a leaf got a new block. */
    refresh: ({ group }: Leaf): void => refresh(group),
    /** The leaf that grows least by taking in a point; undefined when the list is empty. */
    nearest(lat: number, lon: number): Leaf | undefined {
      let nearest: Leaf | undefined;
      let least = Infinity;
      for (const group of groups)
        if (growth(group.box, lat, lon) < least)
          for (const leaf of group.leaves) {
            const by = growth(leaf.box, lat, lon);
            if (by < least) [nearest, least] = [leaf, by];
          }
      return nearest;
    },
    /** The number of stations that serve a status. O(blocks): to be asked once in some seconds. */
    known: (): number => leaves.reduce((all, { known }) => all + known, 0),
    count: (): number => groups.reduce((all, { count }) => all + count, 0),
    sum(): Sum {
      const whole = emptySum();
      for (const { sum } of groups) addSum(whole, sum);
      return whole;
    },
    /** The rectangle around all stations; null without any. */
    box(): Box | null {
      if (groups.length === 0) return null;
      const whole = noBox();
      for (const { box } of groups) takeIn(whole, box, 0, 2);
      const [south, west, north, east] = whole as unknown as [number, number, number, number];
      return { south, west, north, east };
    },
    /** The rectangle around most blocks: islands far away leave no view of a country. Null without stations. */
    mainBox(): Box | null {
      const last = leaves.length - 1;
      if (last < 0) return null;
      const cut = Math.round(last * outlying);
      const edges = [0, 1, 2, 3].map((edge) => {
        const values = leaves.map(({ box }) => box[edge] as number);
        const place = edge < 2 ? cut : last - cut;
        quickselect(values, place);
        return values[place];
      });
      const [south, west, north, east] = edges as [number, number, number, number];
      return { south, west, north, east };
    },
    /** Visits the leaves that touch the region; `covered`: with all of their stations. */
    walk({ relate }: Region, visit: (leaf: Leaf, covered: boolean) => void): void {
      const relation = (to: Float64Array) =>
        relate(to[0] as number, to[1] as number, to[2] as number, to[3] as number);
      for (const group of groups) {
        const whole = relation(group.box);
        if (whole === outside) continue;
        for (const leaf of group.leaves) {
          const own = whole === inside ? inside : relation(leaf.box);
          if (own !== outside) visit(leaf, own === inside);
        }
      }
    },
  };
}

/** An area to search for stations. A box includes its edges and crosses 180° when west > east. */
export type Area =
  | { kind: "box"; box: Box }
  | { kind: "circle"; centre: Point; radiusM: number }
  | { kind: "all" };

export const outside = 0;
const partly = 1;
export const inside = 2;
type Relation = typeof outside | typeof partly | typeof inside;

/** An area, compiled for questions about many points and boxes. */
export interface Region {
  centre: Point;
  relate(south: number, west: number, north: number, east: number): Relation;
  holds(lat: number, lon: number): boolean;
}

export function compileArea(area: Area): Region {
  if (area.kind === "box") return boxRegion(area.box);
  if (area.kind === "circle") return circleRegion(area.centre, area.radiusM);
  return { centre: { lat: 0, lon: 0 }, relate: () => inside, holds: () => true };
}

function boxRegion({ south, west, north, east }: Box): Region {
  const crosses = west > east;
  const halfWidth = (crosses ? east + 360 - west : east - west) / 2;
  const middle = west + halfWidth;
  const relateLon = (w: number, e: number): Relation => {
    if (!crosses) return e < west || w > east ? outside : w >= west && e <= east ? inside : partly;
    if (w > east && e < west) return outside;
    return w >= west || e <= east ? inside : partly;
  };
  return {
    centre: { lat: (south + north) / 2, lon: middle > 180 ? middle - 360 : middle },
    relate(s, w, n, e) {
      if (n < south || s > north) return outside;
      const lon = relateLon(w, e);
      return lon === inside && !(s >= south && n <= north) ? partly : lon;
    },
    holds: (lat, lon) =>
      lat >= south &&
      lat <= north &&
      (crosses ? lon >= west || lon <= east : lon >= west && lon <= east),
  };
}

function circleRegion(centre: Point, radiusM: number): Region {
  // The box is a millimetre larger, so that its rounding loses no station on the rim.
  const bounds = boxRegion(boxAround(centre, radiusM + 0.001));
  const opposite = centre.lon > 0 ? centre.lon - 180 : centre.lon + 180;
  const within = (lat: number, lon: number): boolean =>
    distanceM(centre, { lat, lon }) <= radiusM - 0.001;
  return {
    centre,
    relate(s, w, n, e) {
      if (bounds.relate(s, w, n, e) === outside) return outside;
      // Distance grows with the difference of longitude up to 180° and has one valley along a meridian,
      // so the corners are the farthest points unless the box spans the opposite meridian.
      if (w <= opposite && opposite <= e) return partly;
      return within(s, w) && within(s, e) && within(n, w) && within(n, e) ? inside : partly;
    },
    holds: (lat, lon) => bounds.holds(lat, lon) && distanceM(centre, { lat, lon }) <= radiusM,
  };
}
