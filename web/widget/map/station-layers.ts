import type {
  ExpressionSpecification,
  GeoJSONSource,
  LayerSpecification,
  Map as MapLibre,
  SymbolLayerSpecification,
} from "maplibre-gl";
import { hasFuel, stationAnswer } from "#src/domain/grade-answer.ts";
import type { Grade } from "#src/domain/vocabulary.ts";
import type { Theme } from "#web/kit/theme.ts";
import type { Station } from "#web/widget/api.ts";
import { tokenOf } from "#web/widget/colours.ts";
import { clusterMaxZoom, clusterRadius } from "#web/widget/groups.ts";
import { badgeOf, ringSteps, signGrowth } from "#web/widget/looks.ts";
import { shownStatuses } from "#web/widget/signs.ts";
import { ageMinOf, fadingOf } from "#web/widget/age.ts";
import { words } from "#web/widget/words.ts";

const source = "stations";
const chosenSource = "chosen";
/** The zoom from which on stations show the age of their status. */
export const ageZoom = 13;

/** The layers that answer a click: first stations, then clusters. */
export const stationLayer = "stations";
export const clusterLayer = "clusters";
const ringLayer = "ring";
const chosenLayer = "chosen";
const ageLayer = "ages";

/** Adds stations, clusters, and the chosen station with its ring. */
export function addStations(map: MapLibre, theme: Theme, grade: Grade | null): void {
  map.addSource(source, {
    type: "geojson",
    data: { type: "FeatureCollection", features: [] },
    cluster: true,
    clusterRadius,
    clusterMaxZoom,
    clusterProperties: Object.fromEntries(
      shownStatuses.map((status) => [
        status,
        ["+", ["case", ["==", ["get", "status"], status], 1, 0]],
      ]),
    ),
  });
  map.addSource(chosenSource, {
    type: "geojson",
    data: { type: "FeatureCollection", features: [] },
  });
  for (const layer of layers) map.addLayer(layer);
  paintStations(map, theme, grade);
}

/** The age of the status, below a station. */
const ageBelow = (offsetEm: number): NonNullable<SymbolLayerSpecification["layout"]> => ({
  "text-field": ["get", "age"],
  "text-font": ["system-ui", "sans-serif"],
  "text-size": 11,
  "text-offset": [0, offsetEm],
  "text-optional": true,
});

/** Their pictures and colours follow in `paintStations`. */
const layers: LayerSpecification[] = [
  // Below the signs, which are placed before it: an age gives way to each sign that would lie on it.
  {
    id: ageLayer,
    type: "symbol",
    source,
    filter: ["!", ["has", "point_count"]],
    minzoom: ageZoom,
    layout: ageBelow(1.9),
  },
  {
    id: stationLayer,
    type: "symbol",
    source,
    filter: ["!", ["has", "point_count"]],
    layout: {
      "icon-allow-overlap": true,
      "icon-size": [
        "interpolate",
        ["linear"],
        ["zoom"],
        signGrowth.from,
        signGrowth.size,
        signGrowth.to,
        1,
      ],
      // The picture is wider than the sign; below it the age begins.
      "icon-padding": [-3, -3, -8, -3],
      // Known statuses lie above `nodata`.
      "symbol-sort-key": ["match", ["get", "status"], "nodata", 0, "no", 1, 2],
    },
  },
  {
    id: clusterLayer,
    type: "symbol",
    source,
    filter: ["has", "point_count"],
    layout: {
      "icon-allow-overlap": true,
      "text-allow-overlap": true,
      "text-font": ["system-ui", "sans-serif"],
    },
  },
  // Its own source, above all others: no cluster holds the chosen station, and no filter hides it.
  {
    id: ringLayer,
    type: "circle",
    source: chosenSource,
    paint: { "circle-radius": 22, "circle-opacity": 0.28, "circle-stroke-width": 2.5 },
  },
  {
    id: chosenLayer,
    type: "symbol",
    source: chosenSource,
    layout: {
      "icon-allow-overlap": true,
      ...ageBelow(2.7),
      "text-field": ["step", ["zoom"], "", ageZoom, ["get", "age"]],
    },
  },
];

const stationImage = (theme: Theme): ExpressionSpecification => [
  "concat",
  `s:${theme}:`,
  ["get", "status"],
  ":",
  ["get", "badge"],
  ":",
  ["to-string", ["get", "fading"]],
];

/** The image of a cluster. A chosen grade makes the number in it longer. */
const clusterImage = (theme: Theme, grade: Grade | null): ExpressionSpecification => [
  "concat",
  `c:${theme}:`,
  grade === null
    ? ["step", ["get", "point_count"], 0, 10, 1, 100, 2, 1000, 3]
    : ["step", ["get", "point_count"], 1, 10, 2, 100, 3],
  ...shownStatuses.flatMap((status, at): (string | ExpressionSpecification)[] => [
    at === 0 ? ":" : ".",
    share(status),
  ]),
];

/** A status's share of a cluster in steps; a status that occurs has one step at least. */
const share = (status: string): ExpressionSpecification => [
  "max",
  ["min", 1, ["get", status]],
  ["round", ["*", ringSteps, ["/", ["get", status], ["get", "point_count"]]]],
];

/** The number of a cluster's stations, with a grade also of those that have it: `4/13`. */
const clusterText = (grade: Grade | null): ExpressionSpecification =>
  grade === null
    ? ["get", "point_count_abbreviated"]
    : ([
        "concat",
        ["to-string", ["+", ...shownStatuses.filter(hasFuel).map((one) => ["get", one])]],
        "/",
        ["get", "point_count_abbreviated"],
      ] as ExpressionSpecification);

/** Draws them in the theme's colours; clusters count for the grade. */
export function paintStations(map: MapLibre, theme: Theme, grade: Grade | null): void {
  for (const layer of [stationLayer, chosenLayer])
    map.setLayoutProperty(layer, "icon-image", stationImage(theme));
  map.setLayoutProperty(clusterLayer, "icon-image", clusterImage(theme, grade));
  map.setLayoutProperty(clusterLayer, "text-field", clusterText(grade));
  map.setLayoutProperty(clusterLayer, "text-size", grade === null ? countSize : 12);
  map.setPaintProperty(clusterLayer, "text-color", tokenOf("--text"));
  for (const layer of [ageLayer, chosenLayer]) {
    map.setPaintProperty(layer, "text-color", tokenOf("--text"));
    map.setPaintProperty(layer, "text-halo-color", tokenOf("--surface"));
    map.setPaintProperty(layer, "text-halo-width", 1.5);
  }
  map.setPaintProperty(ringLayer, "circle-color", tokenOf("--accent"));
  map.setPaintProperty(ringLayer, "circle-stroke-color", tokenOf("--accent"));
}

const countSize: ExpressionSpecification = ["step", ["get", "point_count"], 13, 100, 14, 1000, 15];

/** The chosen grade and the time, on which signs depend beside the stations. */
export interface Asked {
  grade: Grade | null;
  now: number;
}

/** Shows these stations and no others, with their answers about the grade. */
export function showStations(map: MapLibre, stations: readonly Station[], asked: Asked): void {
  void map.getSource<GeoJSONSource>(source)?.setData(featuresOf(stations, asked));
}

/** Rings the station and shows it above all others. */
export function ringStation(map: MapLibre, station: Station | null, asked: Asked): void {
  const chosen = station === null ? [] : [station];
  void map.getSource<GeoJSONSource>(chosenSource)?.setData(featuresOf(chosen, asked));
}

const featuresOf = (
  stations: readonly Station[],
  { grade, now }: Asked,
): Parameters<GeoJSONSource["setData"]>[0] => ({
  type: "FeatureCollection",
  features: stations.map((station) => {
    const { id, lat, lon, fuel } = station;
    const ageMin = ageMinOf(fuel, now);
    return {
      type: "Feature",
      geometry: { type: "Point", coordinates: [lon, lat] },
      properties: {
        ...{ id, status: stationAnswer(station, grade), badge: badgeOf(fuel) },
        ...{ fading: fadingOf(station, grade, now), age: ageMin === null ? "" : words.age(ageMin) },
      },
    };
  }),
});

/** The zoom at which a cluster falls apart. */
export const zoomOfCluster = (map: MapLibre, clusterId: number): Promise<number> =>
  map.getSource<GeoJSONSource>(source)?.getClusterExpansionZoom(clusterId) ??
  Promise.resolve(map.getZoom() + 2);
