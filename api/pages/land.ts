import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { VectorTile } from "@mapbox/vector-tile";
import { LRUCache } from "lru-cache";
import { PbfReader } from "pbf";
import { PMTiles } from "pmtiles";
import { refused } from "#api/http/errors.ts";
import { packFile, type PackedFile, sendPacked } from "#api/http/negotiation.ts";
import type { PageRouter } from "#api/http/route.ts";
import { builtFolder } from "#api/pages/assets.ts";
import { dayS } from "#src/domain/units.ts";

/** Zoom of the finest tiles of the bundled base map; finer ones are cut out of those. */
const sourceZoom = 7;
const zoomMax = 10;
/** A side of a tile in its path's units, and how far land goes beyond it, so that neighbours leave no line. */
const extent = 4096;
const buffer = 64;
/** Steps that are shorter are left out: they are a pixel or two where the source has them at all. */
const leastStep = 3;
const keptBytes = 4_000_000;

type Corner = readonly [x: number, y: number];

/**
 * `/basemap/land/{z}/{x}/{y}`: the land of a Web Mercator tile, zooms 0 to 10, as the data of an SVG path in a square
 * of 4096; empty at sea. Some hundred bytes, for the sketch before the map's own code has come (decisions
 * 15.42).
 */
export function landPages(router: PageRouter): void {
  const kept = new LRUCache<string, PackedFile>({
    maxSize: keptBytes,
    sizeCalculation: ({ plain, gzip }) => plain.length + gzip.length,
  });
  let archive: Promise<PMTiles> | null = null;
  router.get("/basemap/land/:z/:x/:y", async (ctx) => {
    const { z, x, y } = ctx.params as Record<"z" | "x" | "y", string>;
    const tile = tileOf(z, x, y);
    if (tile === null) throw refused("not-found", "There is no such tile.");
    archive ??= openLand();
    const land = await archive.catch(() => {
      archive = null;
      throw refused("not-found", "The base map is not built.");
    });
    const name = tile.join("/");
    let packed = kept.get(name);
    if (packed === undefined) {
      packed = packFile("text/plain", Buffer.from(await pathOf(land, tile)));
      kept.set(name, packed);
    }
    ctx.set("Cache-Control", `public, max-age=${dayS}`);
    sendPacked(ctx, packed);
  });
}

type Tile = readonly [z: number, x: number, y: number];

function tileOf(...parts: readonly [string, string, string]): Tile | null {
  if (!parts.every((part) => /^\d{1,4}$/.test(part))) return null;
  const [z, x, y] = parts.map(Number) as [number, number, number];
  return z <= zoomMax && x < 2 ** z && y < 2 ** z ? [z, x, y] : null;
}

/** The bundled archive, in memory: 3 MB, and no other build of it can come in between. */
async function openLand(): Promise<PMTiles> {
  const bytes = await readFile(join(builtFolder, "basemap", "bundled.pmtiles"));
  return new PMTiles({
    getKey: () => "land",
    getBytes: (offset, length) =>
      Promise.resolve({ data: Uint8Array.from(bytes.subarray(offset, offset + length)).buffer }),
  });
}

async function pathOf(land: PMTiles, [z, x, y]: Tile): Promise<string> {
  const finer = Math.max(0, z - sourceZoom);
  const parts = 2 ** finer;
  const found = await land.getZxy(z - finer, Math.floor(x / parts), Math.floor(y / parts));
  // The sea has no tiles.
  if (found === undefined) return "";
  const layer = new VectorTile(new PbfReader(new Uint8Array(found.data))).layers["land"];
  if (layer === undefined) return "";
  let path = "";
  for (let n = 0; n < layer.length; n++) {
    for (const ring of layer.feature(n).loadGeometry()) {
      const scale = (extent / layer.extent) * parts;
      const corners = ring.map((point): Corner => [
        point.x * scale - (x % parts) * extent,
        point.y * scale - (y % parts) * extent,
      ]);
      path += drawn(parts === 1 ? corners : withinTile(corners));
    }
  }
  return path;
}

/** The part of a ring that lies in the tile, cut edge after edge (Sutherland and Hodgman). */
function withinTile(ring: readonly Corner[]): readonly Corner[] {
  let rest = ring;
  for (const axis of [0, 1] as const)
    for (const [bound, side] of [
      [-buffer, 1],
      [extent + buffer, -1],
    ] as const)
      rest = cut(rest, axis, bound, side);
  return rest;
}

function cut(ring: readonly Corner[], axis: 0 | 1, bound: number, side: 1 | -1): Corner[] {
  const isInside = (corner: Corner): boolean => (corner[axis] - bound) * side >= 0;
  return ring.flatMap((to, n) => {
    const from = ring.at(n - 1)!;
    const kept = isInside(to) ? [to] : [];
    if (isInside(from) === isInside(to)) return kept;
    const share = (bound - from[axis]) / (to[axis] - from[axis]);
    const crossing: Corner = [
      from[0] + share * (to[0] - from[0]),
      from[1] + share * (to[1] - from[1]),
    ];
    return [crossing, ...kept];
  });
}

/** The ring as a part of a path, each corner by its step from the last. */
function drawn(ring: readonly Corner[]): string {
  let [x, y] = [0, 0];
  const steps: string[] = [];
  for (const corner of ring) {
    const [toX, toY] = [Math.round(corner[0]), Math.round(corner[1])];
    if (steps.length > 0 && Math.abs(toX - x) + Math.abs(toY - y) < leastStep) continue;
    steps.push(`${toX - x} ${toY - y}`);
    [x, y] = [toX, toY];
  }
  const [first, ...rest] = steps;
  return rest.length < 2 ? "" : `M${first}l${rest.join(" ")}z`;
}
