import { mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { tileIdToZxy, zxyToTileId } from "pmtiles";
import { gather, type ShowStep } from "#src/import/basemap/gather.ts";
import type { LayerName } from "#src/import/basemap/kinds.ts";
import { allEarth, allSea, type Ground, type Land, openLand } from "#src/import/basemap/land.ts";
import { openRegions, regionZoom, type Regions } from "#src/import/basemap/regions.ts";
import { cut, type Cutter, encode, lastZoom, type TileFeature } from "#src/import/basemap/tiles.ts";
import { asFault, type FileFault } from "#src/import/read-text.ts";
import { bundledBasemapFile, osmAttribution } from "#src/infrastructure/map-settings.ts";
import { openArchive, type Archive } from "#src/infrastructure/pmtiles-archive.ts";

/** What `operator basemap build` has made. */
export interface BasemapSummary {
  file: string;
  bytes: number;
  tiles: number;
  /** By layer; an object that several regions share counts once. */
  roads: number;
  water: number;
  places: number;
  boundaries: number;
  /** Relations of water whose rings are not closed; they are left out. */
  broken: number;
  /** Points of everything drawn: what memory depends on, about 24 bytes for each. */
  points: number;
}

export interface BasemapOptions {
  path: string;
  out: string;
  show: ShowStep;
}

/**
 * Makes a base map (PMTiles, Protomaps schema, zooms 0 to 14) from an extract of OpenStreetMap. Nothing is written
 * under `out` before all of it is done; a file that is there already is replaced (docs/decisions.md 15.39).
 */
export async function buildBasemap(options: BasemapOptions): Promise<BasemapSummary | FileFault> {
  const { path, out, show } = options;
  // Beside the result: the temporary files need as much room as it, and a rename works only there.
  const folder = await mkdtemp(join(dirname(out), `.${basename(out)}-`)).catch(
    (error: NodeJS.ErrnoException) => error,
  );
  if (folder instanceof Error)
    return { fault: `${dirname(out)} cannot be written (${folder.code ?? folder.message})` };
  try {
    return await asFault(path, async () => {
      const regions = openRegions(folder);
      const counts: Record<LayerName, number> = {
        ...{ earth: 0, water: 0, roads: 0, boundaries: 0, places: 0 },
      };
      const gathered = await gather(path, folder, show, (shape) => {
        counts[shape.kind.layer] += 1;
        regions.add(shape);
      });
      const { earth: _, ...drawn } = counts;
      const made = join(folder, "made");
      const sizes = await writeTiles(regions, folder, made, show);
      await rename(made, out);
      return { file: out, ...sizes, ...drawn, ...gathered };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeTiles(
  regions: Regions,
  folder: string,
  made: string,
  show: ShowStep,
): Promise<{ bytes: number; tiles: number }> {
  const land = await openLand(bundledBasemapFile);
  const archive = openArchive(folder);
  try {
    await addOverview(archive, regions, land);
    addRegions(archive, regions, land, show);
    return archive.finish(made, {
      name: "streets",
      attribution: osmAttribution,
      vector_layers: ["earth", "water", "roads", "boundaries", "places"].map((id) => ({
        id,
        fields: {},
      })),
    });
  } finally {
    archive.close();
    await land.close();
  }
}

/** The whole world below the regions: land, sea, and what is large. */
async function addOverview(archive: Archive, regions: Regions, land: Land): Promise<void> {
  const cutter = cut(regions.overview(), regionZoom - 1);
  for (let id = 0, end = zxyToTileId(regionZoom, 0, 0); id < end; id++) {
    const [z, x, y] = tileIdToZxy(id);
    const layers = cutter.tile(z, x, y);
    const coast = z <= land.maxZoom ? await land.tile(z, x, y) : null;
    const ground = coast ?? (z > land.maxZoom && land.any(z, x, y) ? allEarth : allSea);
    archive.add(z, id, tileOf(layers, ground));
  }
}

const earthTile = encode(layersOf(new Map(), allEarth));
const seaTile = encode(layersOf(new Map(), allSea));

function tileOf(layers: ReadonlyMap<LayerName, TileFeature[]>, ground: Ground): Uint8Array {
  if (layers.size === 0 && ground === allEarth) return earthTile;
  if (layers.size === 0 && ground === allSea) return seaTile;
  return encode(layersOf(layers, ground));
}

function layersOf(
  layers: ReadonlyMap<LayerName, TileFeature[]>,
  { earth, water }: Ground,
): Map<LayerName, TileFeature[]> {
  const waters = [...water, ...(layers.get("water") ?? [])];
  return new Map([
    ...(earth.length > 0 ? [["earth", earth] as const] : []),
    ...(waters.length > 0 ? [["water", waters] as const] : []),
    ...[...layers].filter(([name]) => name !== "water"),
  ]);
}

/** Region by region along the archive's curve, so that the tiles of each zoom come in its order. */
function addRegions(archive: Archive, regions: Regions, land: Land, show: ShowStep): void {
  const first = zxyToTileId(regionZoom, 0, 0);
  const total = regions.count();
  let done = 0;
  for (let n = 0; n < 4 ** regionZoom; n++) {
    const [, x, y] = tileIdToZxy(first + n);
    if (regions.has(x, y)) {
      addRegion(archive, cut(regions.take(x, y), lastZoom), n);
      show("drawing regions", (done += 1), total);
    } else {
      const tile = land.any(regionZoom, x, y) ? earthTile : seaTile;
      for (const { z, from, count } of zoomsOf(n)) archive.add(z, from, tile, count);
    }
  }
}

function addRegion(archive: Archive, cutter: Cutter, n: number): void {
  for (const { z, from, count } of zoomsOf(n))
    for (let id = from; id < from + count; id++) {
      const [, x, y] = tileIdToZxy(id);
      archive.add(z, id, tileOf(cutter.tile(z, x, y), allEarth));
    }
}

/** The tiles of the n-th region along the curve: at each zoom they follow one another. */
const zoomsOf = (n: number): { z: number; from: number; count: number }[] =>
  Array.from({ length: lastZoom - regionZoom + 1 }, (_, deeper) => {
    const count = 4 ** deeper;
    const z = regionZoom + deeper;
    return { z, count, from: zxyToTileId(z, 0, 0) + n * count };
  });
