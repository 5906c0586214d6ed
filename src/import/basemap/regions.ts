import { appendFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tileIdToZxy, zxyToTileId } from "pmtiles";
import { waterZoom } from "#src/import/basemap/kinds.ts";
import type { Shape } from "#src/import/basemap/gather.ts";
import { unitsPerDegree } from "#src/import/basemap/points.ts";
import { type Box, boxOf, pointIn, type Ring } from "#src/import/basemap/rings.ts";
import { readRecords, recordOf } from "#src/import/basemap/spill.ts";

/** Tiles from this zoom on are made region by region; a region is what one tile of this zoom covers. */
export const regionZoom = 9;
/** What tiles draw beyond their edge, in parts of a tile, so that lines and letters meet there. */
const buffer = 64 / 4096;
const bufferedBytes = 64 * 1024 * 1024;

interface Head {
  kind: Shape["kind"];
  form: Shape["form"];
  /** How many numbers each ring has. */
  lengths: number[];
}

/** Shapes on disk by region, so that one region at a time is in memory. */
export interface Regions {
  add(shape: Shape): void;
  /** What is drawn on the tiles below `regionZoom`. */
  overview(): Shape[];
  /** Along the curve that orders the tiles of an archive. */
  all(): [x: number, y: number][];
  /** The shapes of one region; its file is gone afterwards. */
  take(x: number, y: number): Shape[];
}

export function openRegions(folder: string): Regions {
  const known = new Set<number>();
  let waiting = new Map<string, Buffer[]>();
  let size = 0;
  const put = (name: string, record: Buffer): void => {
    const there = waiting.get(name);
    if (there === undefined) waiting.set(name, [record]);
    else there.push(record);
    size += record.length;
    if (size >= bufferedBytes) flush();
  };
  const flush = (): void => {
    for (const [name, records] of waiting)
      appendFileSync(join(folder, name), Buffer.concat(records));
    [waiting, size] = [new Map(), 0];
  };
  const take = (name: string): Shape[] => {
    flush();
    const file = join(folder, name);
    if (!existsSync(file)) return [];
    const shapes = [...readRecords<Head, Int32Array>(file, Int32Array)].map(shapeOf);
    rmSync(file);
    return shapes;
  };
  return {
    add(given) {
      const [shape, label] = labelled(sized(given));
      if (label !== null) this.add(label);
      const record = recordFor(shape);
      for (const [x, y] of regionsOf(boxOf(shape.rings[0]!))) {
        known.add(zxyToTileId(regionZoom, x, y));
        put(`region-${x}-${y}`, record);
      }
      const coarse = shape.kind.minZoom < regionZoom ? coarser(shape) : null;
      if (coarse !== null) put("overview", recordFor(coarse));
    },
    overview: () => take("overview"),
    all: () =>
      [...known]
        .sort((a, b) => a - b)
        .map(tileIdToZxy)
        .map(([, x, y]) => [x, y]),
    take: (x, y) => take(`region-${x}-${y}`),
  };
}

const recordFor = ({ kind, form, rings }: Shape): Buffer => {
  const lengths = rings.map(({ length }) => length);
  const numbers = new Int32Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const ring of rings) {
    numbers.set(ring, at);
    at += ring.length;
  }
  return recordOf({ kind, form, lengths } satisfies Head, numbers);
};

function shapeOf({ head, numbers }: { head: Head; numbers: Int32Array }): Shape {
  let at = 0;
  const rings = head.lengths.map((length) => numbers.subarray(at, (at += length)));
  return { kind: head.kind, form: head.form, rings };
}

/** Water is drawn from the zoom on where it can be seen. */
function sized(shape: Shape): Shape {
  if (shape.form !== "area" || shape.kind.layer !== "water") return shape;
  const { west, south, east, north } = boxOf(shape.rings[0]!);
  const minZoom = waterZoom(Math.max(east - west, north - south) / unitsPerDegree);
  return { ...shape, kind: { ...shape.kind, minZoom } };
}

/** The name of an area as a point of its own: else each of its tiles would carry it. */
function labelled(shape: Shape): [Shape, label: Shape | null] {
  const { kind, form, rings } = shape;
  if (form !== "area" || kind.tags["name"] === undefined) return [shape, null];
  const tags = Object.fromEntries(
    Object.entries(kind.tags).filter(([key]) => !/^(name|script)/.test(key)),
  );
  const [point, minZoom] = [pointIn(rings), Math.min(14, kind.minZoom + labelLater)];
  return [
    { ...shape, kind: { ...kind, tags } },
    { form: "point", rings: [Int32Array.from(point)], kind: { ...kind, minZoom } },
  ];
}

// An area that is just to be seen has no room for its name.
const labelLater = 3;

// Two of the 4096 steps of a tile below the regions: the tiler leaves out more.
const coarseStep = ((360 / 2 ** (regionZoom - 1) / 4096) * 2 * unitsPerDegree) | 0;

/** With fewer points, or null where nothing is left of it. */
function coarser(shape: Shape): Shape | null {
  if (shape.form === "point") return shape;
  const least = shape.form === "area" ? 8 : 4;
  const rings = shape.rings.map(thinned).filter(({ length }) => length >= least);
  return rings.length === 0 || rings[0]!.length < least ? null : { ...shape, rings };
}

/** Without points that lie close to the one before them; the last one stays. */
function thinned(ring: Ring): Ring {
  const kept: number[] = [];
  let [lastX, lastY] = [Infinity, Infinity];
  for (let n = 0; n < ring.length; n += 2) {
    const [x, y] = [ring[n]!, ring[n + 1]!];
    const near = Math.abs(x - lastX) < coarseStep && Math.abs(y - lastY) < coarseStep;
    if (near && n + 2 < ring.length) continue;
    kept.push(x, y);
    [lastX, lastY] = [x, y];
  }
  return Int32Array.from(kept);
}

/** The regions whose tiles draw a part of this box. */
function regionsOf(box: Box): [x: number, y: number][] {
  const side = 2 ** regionZoom;
  const inside = (n: number): number => Math.min(side - 1, Math.max(0, Math.floor(n)));
  const [west, east] = [xOf(box.west) * side, xOf(box.east) * side];
  const [north, south] = [yOf(box.north) * side, yOf(box.south) * side];
  const found: [number, number][] = [];
  for (let x = inside(west - buffer); x <= inside(east + buffer); x++)
    for (let y = inside(north - buffer); y <= inside(south + buffer); y++) found.push([x, y]);
  return found;
}

const xOf = (units: number): number => units / unitsPerDegree / 360 + 0.5;
const yOf = (units: number): number => {
  const sin = Math.sin((units / unitsPerDegree / 180) * Math.PI);
  return 0.5 - (0.25 * Math.log((1 + sin) / (1 - sin))) / Math.PI;
};
