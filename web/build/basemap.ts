import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import { GeoJSONVT, type GeoJSONVTFeature } from "@maplibre/geojson-vt";
import { feature } from "topojson-client";
import { type Tile, writePmtiles } from "#src/infrastructure/pmtiles.ts";

const maxZoom = 7;
const extent = 4096;
/** From here on regions are told apart: on fewer pixels their borders would be a net. */
const regionZoom = 4;

const require = createRequire(import.meta.url);
/** The sources of the base map, Natural Earth's, 1:10 million, public domain: its land, and what else is drawn. */
export const sourceFiles = {
  land: require.resolve("world-atlas/land-10m.json"),
  more: join(import.meta.dirname, "natural-earth.json.gz"),
};

/**
 * The bundled base map of the world, zooms 0 to 7, as a PMTiles archive (5.9 MB, 6 s). Its vector layers: `land`, `lakes`,
 * `rivers` (`width`), `borders` (`of`: country or region) and `names` (`of`, `ru`, `en`, `area` in square degrees, and
 * `from`, the zoom from which on there is room for it).
 */
export function bundledBasemap(): Buffer {
  const land = JSON.parse(readFileSync(sourceFiles.land, "utf8")) as Topology;
  const more = JSON.parse(gunzipSync(readFileSync(sourceFiles.more)).toString()) as Topology;
  const layers: [name: string, features: GeoJSON.FeatureCollection][] = [
    ["land", unwrapped(feature(land, land.objects["land"]!) as Land)],
    ...Object.entries(more.objects).map(([name, objects]): [string, GeoJSON.FeatureCollection] => [
      name,
      feature(more, objects) as unknown as GeoJSON.FeatureCollection,
    ]),
  ];
  const cut = layers.map(([name, features]) => {
    const options = { maxZoom, indexMaxZoom: maxZoom, indexMaxPoints: 0, extent };
    return [name, new GeoJSONVT(features, options)] as const;
  });
  const tiles: Tile[] = [];
  for (let z = 0; z <= maxZoom; z++) {
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) {
        const found = cut.flatMap(([name, index]) => {
          const tile = index.getTile(z, x, y);
          const all: readonly GeoJSONVTFeature[] = tile?.features ?? [];
          const features = all.filter(({ tags }) => isSeen(tags, z));
          return tile === null || features.length === 0 ? [] : [[name, { ...tile, features }]];
        });
        if (found.length === 0) continue;
        const bytes = fromGeojsonVt(Object.fromEntries(found), { version: 2, extent });
        tiles.push({ z, x, y, bytes });
      }
    }
  }
  return writePmtiles(tiles, {
    name: "land",
    attribution: "Natural Earth",
    vector_layers: layers.map(([id]) => ({ id, minzoom: 0, maxzoom: maxZoom, fields: {} })),
  });
}

/** Whether a tile's feature can be drawn before the next zoom, or at any beyond the last one; a name is half a zoom early. */
const isSeen = (tags: GeoJSON.GeoJsonProperties, z: number): boolean =>
  z === maxZoom ||
  ((tags?.["from"] ?? 0) < z + 1.5 && (tags?.["of"] !== "region" || z >= regionZoom));

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
