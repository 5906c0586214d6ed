import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import { GeoJSONVT } from "@maplibre/geojson-vt";
import { feature } from "topojson-client";
import { type Tile, writePmtiles } from "#src/infrastructure/pmtiles.ts";

const maxZoom = 7;
const extent = 4096;

const require = createRequire(import.meta.url);
/** The source of the base map: Natural Earth's land, 1:10 million, public domain. */
export const landFile = require.resolve("world-atlas/land-10m.json");

/**
 * The bundled base map: the world's land as one vector layer `land`, zooms 0 to 7, as a PMTiles archive (2.8 MB,
 * 2 s). Without country borders: some are disputed, and the source draws them one-sidedly.
 */
export function bundledBasemap(): Buffer {
  const topology = JSON.parse(readFileSync(landFile, "utf8")) as Topology;
  const land = unwrapped(feature(topology, topology.objects["land"]!) as Land);
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
type Land = GeoJSON.FeatureCollection<GeoJSON.MultiPolygon>;
type Ring = GeoJSON.Position[];

/**
 * The source's rings cross 180° by a jump to -180°, which a tiler takes for a line around the world. Here they go on
 * beyond 180°, and one around a pole is closed over it.
 */
function unwrapped(land: Land): Land {
  const features = land.features.map((one) => ({
    ...one,
    geometry: {
      ...one.geometry,
      coordinates: one.geometry.coordinates.map((polygon) => polygon.map(unwrap)),
    },
  }));
  return { ...land, features };
}

function unwrap(ring: Ring): Ring {
  let turns = 0;
  let before = ring[0]?.[0] ?? 0;
  const loose = ring.map(([lon = 0, lat = 0]) => {
    if (lon - before > 180) turns -= 1;
    if (lon - before < -180) turns += 1;
    before = lon;
    return [lon + turns * 360, lat];
  });
  // Whole turns are taken off by the ring's middle, so that an outer ring and its holes come to the same place.
  const lons = loose.map(([lon = 0]) => lon);
  const middle = (Math.min(...lons) + Math.max(...lons)) / 2;
  const shift = Math.round(middle / 360) * 360;
  const open = loose.map(([lon = 0, lat = 0]) => [lon - shift, lat]);
  const [[first = 0] = [], [last = 0, lat = 0] = []] = [open[0], open.at(-1)];
  if (Math.abs(last - first) < 180) return open;
  const pole = lat < 0 ? -90 : 90;
  return [...open, [last, pole], [first, pole], open[0]!];
}
