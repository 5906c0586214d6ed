import { GeoJSONVT } from "@maplibre/geojson-vt";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import { type Tile, writePmtiles } from "#src/infrastructure/pmtiles.ts";

type Position = [lon: number, lat: number];
type Layer = "roads" | "water";

const maxZoom = 13;
/** Half the width of the town, in degrees. */
const half = 0.1;

/** An archive in the Protomaps schema, as other tools make it: trunk roads around a place, and a lake beside it. */
export function streetsArchive({ lon, lat }: { lon: number; lat: number }): Buffer {
  const layers: Record<Layer, GeoJSON.Feature[]> = {
    roads: Array.from({ length: 21 }, (_, n) => (n - 10) * (half / 10)).flatMap((off) => [
      road([lon - half, lat + off], [lon + half, lat + off]),
      road([lon + off, lat - half], [lon + off, lat + half]),
    ]),
    water: [lake([lon + 0.01, lat - 0.01], [lon + 0.04, lat + 0.01])],
  };
  const cut = Object.entries(layers).map(([name, features]) => {
    const all = { type: "FeatureCollection" as const, features };
    return [name, new GeoJSONVT(all, { maxZoom, indexMaxZoom: 0 })] as const;
  });
  const tiles: Tile[] = [];
  for (let z = 0; z <= maxZoom; z++) {
    const [west, north] = tileAt(z, [lon - half, lat + half]);
    const [east, south] = tileAt(z, [lon + half, lat - half]);
    for (let x = west; x <= east; x++)
      for (let y = north; y <= south; y++) {
        const found = cut.flatMap(([name, index]) => {
          const tile = index.getTile(z, x, y);
          return tile === null ? [] : [[name, tile] as const];
        });
        tiles.push({ z, x, y, bytes: fromGeojsonVt(Object.fromEntries(found), { version: 2 }) });
      }
  }
  return writePmtiles(tiles, {
    attribution: '<a href="https://example.org/">© OpenStreetMap contributors</a>',
    vector_layers: Object.keys(layers).map((id) => ({ id, fields: {} })),
  });
}

const road = (...coordinates: Position[]): GeoJSON.Feature => ({
  type: "Feature",
  properties: { kind: "major_road", kind_detail: "trunk", min_zoom: 6 },
  geometry: { type: "LineString", coordinates },
});

const lake = ([west, south]: Position, [east, north]: Position): GeoJSON.Feature => ({
  type: "Feature",
  properties: { kind: "lake" },
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  },
});

function tileAt(z: number, [lon, lat]: Position): [x: number, y: number] {
  const y = 0.5 - Math.asinh(Math.tan((lat / 180) * Math.PI)) / (2 * Math.PI);
  return [Math.floor((lon / 360 + 0.5) * 2 ** z), Math.floor(y * 2 ** z)];
}
