import { existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { PMTiles, zxyToTileId } from "pmtiles";
import { contains } from "#src/import/basemap/rings.ts";
import { extent, type TileFeature } from "#src/import/basemap/tiles.ts";

type Line = [number, number][];

/** What lies under everything else on a tile. */
export interface Ground {
  earth: TileFeature[];
  water: TileFeature[];
}

/** Land and sea, from the base map that is bundled with the service. */
export interface Land {
  /** The last zoom at which the coast is true enough; above it a tile is all land or all sea. */
  maxZoom: number;
  /** What lies on a tile up to `maxZoom`; null for nothing but sea. */
  tile(z: number, x: number, y: number): Promise<Ground | null>;
  /** Whether a tile beyond `maxZoom` has any land near it, once all tiles of `maxZoom` were asked for. */
  any(z: number, x: number, y: number): boolean;
  close(): Promise<void>;
}

/** A little more than a tile and its buffer. */
const square = (): Line => {
  const [from, to] = [-128, extent + 128];
  return [
    [from, from],
    [to, from],
    [to, to],
    [from, to],
    [from, from],
  ];
};

export const allEarth: Ground = {
  earth: [{ type: 3, tags: { kind: "earth" }, geometry: [square()] }],
  water: [],
};
export const allSea: Ground = {
  earth: [],
  water: [{ type: 3, tags: { kind: "ocean" }, geometry: [square()] }],
};

/** @param path the bundled base map; where it has not been built, everything is land */
export async function openLand(path: string): Promise<Land> {
  if (!existsSync(path)) {
    return {
      maxZoom: -1,
      tile: () => Promise.resolve(null),
      any: () => true,
      close: () => Promise.resolve(),
    };
  }
  const file = await open(path);
  const archive = new PMTiles({ getKey: () => path, getBytes: (at, length) => part(file, at, length) });
  const { maxZoom } = await archive.getHeader();
  const withLand = new Set<number>();
  const linesOf = async (z: number, x: number, y: number): Promise<Line[]> => {
    const tile = await archive.getZxy(z, x, y);
    if (tile === undefined) return [];
    const layer = new VectorTile(new PbfReader(tile.data)).layers["land"];
    return Array.from({ length: layer?.length ?? 0 }, (_, n) => layer!.feature(n).loadGeometry())
      .flat()
      .map((ring) => ring.map(({ x: left, y: top }): [number, number] => [left, top]));
  };
  return {
    maxZoom,
    async tile(z, x, y) {
      const lines = await linesOf(z, x, y);
      if (lines.length === 0) return null;
      if (z === maxZoom) withLand.add(zxyToTileId(z, x, y));
      const earth: TileFeature = { type: 3, tags: { kind: "earth" }, geometry: lines };
      return { earth: [earth], water: [seaAround(lines)] };
    },
    any(z, x, y) {
      const steps = 2 ** (z - maxZoom);
      return withLand.has(zxyToTileId(maxZoom, Math.floor(x / steps), Math.floor(y / steps)));
    },
    close: () => file.close(),
  };
}

async function part(file: FileHandle, at: number, length: number): Promise<{ data: ArrayBuffer }> {
  const bytes = new Uint8Array(length);
  const { bytesRead } = await file.read(bytes, 0, length, at);
  return { data: bytes.buffer.slice(0, bytesRead) };
}

/**
 * The sea of a tile: a square with the land as holes. Waters inside the land that the source leaves open, such as the
 * Caspian Sea, are polygons of their own, each with its islands.
 */
function seaAround(lines: readonly Line[]): TileFeature {
  const turned = lines.map((line) => line.toReversed());
  const shores = turned.filter((line) => area(line) < 0);
  const waters = turned.filter((line) => area(line) > 0);
  const homes = new Map<Line | null, Line[]>();
  for (const shore of shores) {
    const [x, y] = shore[0]!;
    const home = waters.find((water) => contains(water.flat(), x, y)) ?? null;
    homes.set(home, [...(homes.get(home) ?? []), shore]);
  }
  const geometry = [
    ...[square(), ...(homes.get(null) ?? [])],
    ...waters.flatMap((water) => [water, ...(homes.get(water) ?? [])]),
  ];
  return { type: 3, tags: { kind: "ocean" }, geometry };
}

/** Positive for the outer ring of a polygon of a tile. */
function area(line: Line): number {
  let sum = 0;
  for (let n = 1; n < line.length; n++)
    sum += line[n - 1]![0] * line[n]![1] - line[n]![0] * line[n - 1]![1];
  return sum;
}
