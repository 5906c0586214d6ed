import { mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { tileIdToZxy, zxyToTileId } from "pmtiles";
import { gather, type ShowStep } from "#src/import/basemap/gather.ts";
import { layerNames, type LayerName } from "#src/import/basemap/kinds.ts";
import { openRegions, regionZoom, type Regions } from "#src/import/basemap/regions.ts";
import { cut, type Cutter, earth, encode, lastZoom } from "#src/import/basemap/tiles.ts";
import { asFault, type FileFault } from "#src/import/read-text.ts";
import { osmAttribution } from "#src/infrastructure/map-settings.ts";
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
  /** Different points of everything drawn: what memory depends on. */
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
      const { earth: _earth, ...drawn } = counts;
      const made = join(folder, "made");
      const sizes = writeTiles(regions, folder, made, show);
      await rename(made, out);
      return { file: out, ...sizes, ...drawn, ...gathered };
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    return { fault: `${dirname(out)} has no space left; nothing was changed` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function writeTiles(
  regions: Regions,
  folder: string,
  made: string,
  show: ShowStep,
): { bytes: number; tiles: number } {
  const archive = openArchive(folder);
  try {
    addOverview(archive, regions);
    addRegions(archive, regions, show);
    return archive.finish(made, {
      name: "streets",
      attribution: osmAttribution,
      vector_layers: layerNames.map((id) => ({ id, fields: {} })),
    });
  } finally {
    archive.close();
  }
}

/** What is large, below the regions. Under it the map draws its own land and sea. */
function addOverview(archive: Archive, regions: Regions): void {
  const cutter = cut(regions.overview(), regionZoom - 1);
  for (let id = 0, end = zxyToTileId(regionZoom, 0, 0); id < end; id++) {
    const [z, x, y] = tileIdToZxy(id);
    const layers = cutter.tile(z, x, y);
    if (layers.size > 0) archive.add(z, id, encode(layers));
  }
}

/** Region by region along the archive's curve, so that the tiles of each zoom come in its order. */
function addRegions(archive: Archive, regions: Regions, show: ShowStep): void {
  const ordered = regions.all();
  ordered.forEach(([x, y], n) => {
    const cutter = cut(regions.take(x, y), lastZoom);
    for (let z = regionZoom; z <= lastZoom; z++) addZoom(archive, cutter, z, [x, y]);
    show("drawing regions", n + 1, ordered.length);
  });
}

const openLand = encode(new Map([["earth", [earth]]]));

/** The tiles of a region at one zoom: they follow one another along the curve. */
function addZoom(archive: Archive, cutter: Cutter, z: number, [x, y]: [number, number]): void {
  const count = 4 ** (z - regionZoom);
  const nth = zxyToTileId(regionZoom, x, y) - zxyToTileId(regionZoom, 0, 0);
  const first = zxyToTileId(z, 0, 0) + nth * count;
  for (let id = first; id < first + count; id++) {
    const [, left, top] = tileIdToZxy(id);
    const layers = cutter.tile(z, left, top);
    const whole = (): Uint8Array => encode(new Map([["earth", [earth]], ...layers]));
    archive.add(z, id, layers.size === 0 ? openLand : whole());
  }
}
