import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import { GeoJSONVT } from "@maplibre/geojson-vt";
import { feature } from "topojson-client";
import { type Tile, writePmtiles } from "#web/build/pmtiles.ts";

const maxZoom = 7;
const extent = 4096;

/** The source of the base map: Natural Earth's land, 1:10 million, public domain. */
export const landFile = createRequire(import.meta.url).resolve("world-atlas/land-10m.json");

/**
 * The bundled base map: the world's land as one vector layer `land`, zooms 0 to 7, as a PMTiles archive (2.8 MB,
 * 2 s). Without country borders: some are disputed, and the source draws them one-sidedly.
 */
export function bundledBasemap(): Buffer {
  const topology = JSON.parse(readFileSync(landFile, "utf8")) as Topology;
  const land = feature(topology, topology.objects["land"]!);
  const index = new GeoJSONVT(land, {
    maxZoom,
    indexMaxZoom: maxZoom,
    indexMaxPoints: 0,
    extent,
  });
  const tiles: Tile[] = [];
  for (let z = 0; z <= maxZoom; z++) {
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) {
        const tile = index.getTile(z, x, y);
        if (tile === null || tile.features.length === 0) continue;
        tiles.push({ z, x, y, bytes: fromGeojsonVt({ land: tile }, { version: 2, extent }) });
      }
    }
  }
  return writePmtiles(tiles, {
    name: "land",
    attribution: "Natural Earth",
    vector_layers: [{ id: "land", minzoom: 0, maxzoom: maxZoom, fields: {} }],
  });
}

type Topology = Parameters<typeof feature>[0];
