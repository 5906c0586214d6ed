import { GeoJSONVT, type GeoJSONVTFeature } from "@maplibre/geojson-vt";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import type { Shape } from "#src/import/basemap/gather.ts";
import type { LayerName } from "#src/import/basemap/kinds.ts";
import { unitsPerDegree } from "#src/import/basemap/points.ts";
import type { Ring } from "#src/import/basemap/rings.ts";

/** The last zoom that has tiles; the map draws further ones from it. */
export const lastZoom = 14;
const extent = 4096;
// Names of roads stand on the map from here on.
const namesZoom = 11;

type TileFeature = GeoJSONVTFeature;

// A little more than a tile and its buffer.
const [from, to] = [-128, extent + 128];
/** Land over a whole tile. */
export const earth: TileFeature = {
  type: 3,
  tags: { kind: "earth" },
  geometry: [
    [
      [from, from],
      [to, from],
      [to, to],
      [from, to],
      [from, from],
    ],
  ],
};

/** Cuts shapes into tiles down to `maxZoom`. */
export interface Cutter {
  /** What is drawn on one tile, by layer. */
  tile(z: number, x: number, y: number): Map<LayerName, TileFeature[]>;
}

export function cut(shapes: readonly Shape[], maxZoom: number): Cutter {
  const features = shapes.map(featureOf);
  const index = new GeoJSONVT(
    { type: "FeatureCollection", features },
    // Nothing is indexed before it is asked for: a region is a small part of the world.
    { maxZoom, indexMaxZoom: 0, extent },
  );
  return {
    tile(z, x, y) {
      const layers = new Map<LayerName, TileFeature[]>();
      const merged = new Map<string, TileFeature>();
      for (const feature of index.getTile(z, x, y)?.features ?? []) {
        const kind = (feature.tags as { kind: Shape["kind"] }).kind;
        if (kind.minZoom > z) continue;
        const tags = z < namesZoom && kind.layer === "roads" ? unnamed(kind.tags) : kind.tags;
        if (feature.type === 1) append(layers, kind.layer, { ...feature, tags });
        else if (feature.type === 3) append(layers, kind.layer, { ...feature, tags });
        else {
          // Lines that look the same become one, which takes far fewer bytes.
          const look = `${kind.layer} ${JSON.stringify(tags)}`;
          const there = merged.get(look);
          if (there?.type === 2) for (const line of feature.geometry) there.geometry.push(line);
          else {
            const first: TileFeature = { type: 2, tags, geometry: [...feature.geometry] };
            merged.set(look, first);
            append(layers, kind.layer, first);
          }
        }
      }
      return layers;
    },
  };
}

function append(
  layers: Map<LayerName, TileFeature[]>,
  layer: LayerName,
  feature: TileFeature,
): void {
  const there = layers.get(layer);
  if (there === undefined) layers.set(layer, [feature]);
  else there.push(feature);
}

function unnamed({ kind, kind_detail: detail, is_link: link }: Shape["kind"]["tags"]) {
  return {
    ...{ kind: kind!, kind_detail: detail! },
    ...(link === undefined ? {} : { is_link: link }),
  };
}

/** A vector tile, not yet compressed. */
export const encode = (layers: ReadonlyMap<LayerName, TileFeature[]>): Uint8Array => {
  type Tiles = Parameters<typeof fromGeojsonVt>[0];
  const tiles = [...layers].map(([name, features]) => [name, { features }]);
  return fromGeojsonVt(Object.fromEntries(tiles) as Tiles, { version: 2, extent });
};

function featureOf({ kind, form, rings }: Shape): GeoJSON.Feature {
  const geometry: GeoJSON.Geometry =
    form === "point"
      ? { type: "Point", coordinates: positions(rings[0]!)[0]! }
      : form === "line"
        ? { type: "LineString", coordinates: positions(rings[0]!) }
        : { type: "Polygon", coordinates: rings.map(positions) };
  return { type: "Feature", properties: { kind }, geometry };
}

function positions(ring: Ring): GeoJSON.Position[] {
  const found: GeoJSON.Position[] = [];
  for (let n = 0; n < ring.length; n += 2)
    found.push([ring[n]! / unitsPerDegree, ring[n + 1]! / unitsPerDegree]);
  return found;
}
