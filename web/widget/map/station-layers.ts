import type {
  ExpressionSpecification,
  GeoJSONSource,
  LayerSpecification,
  Map as MapLibre,
} from "maplibre-gl";
import type { Theme } from "#web/kit/theme.ts";
import type { Station } from "#web/widget/api.ts";
import { tokenOf } from "#web/widget/map/colours.ts";
import type { Badge } from "#web/widget/map/sprites.ts";
import { shownStatuses } from "#web/widget/signs.ts";

const source = "stations";
const clusterRadius = 54;
const clusterMaxZoom = 11;
/** In how many steps a ring shows a status's share. */
const steps = 16;

/** The layers that answer a click: first stations, then clusters. */
export const stationLayer = "stations";
export const clusterLayer = "clusters";

/** Adds stations, clusters, and the ring around the chosen station. */
export function addStations(map: MapLibre, theme: Theme): void {
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
  for (const layer of layers(theme)) map.addLayer(layer);
}

const layers = (theme: Theme): LayerSpecification[] => [
  {
    id: "chosen",
    type: "circle",
    source,
    filter: ["==", ["get", "id"], ""],
    paint: {
      "circle-radius": 22,
      "circle-color": tokenOf("--accent"),
      "circle-opacity": 0.28,
      "circle-stroke-color": tokenOf("--accent"),
      "circle-stroke-width": 2.5,
    },
  },
  {
    id: stationLayer,
    type: "symbol",
    source,
    filter: ["!", ["has", "point_count"]],
    layout: {
      "icon-image": stationImage(theme),
      "icon-allow-overlap": true,
      "icon-size": ["interpolate", ["linear"], ["zoom"], 8, 0.7, 13, 1],
      // What there is to say lies above what nobody knows.
      "symbol-sort-key": ["match", ["get", "status"], "nodata", 0, "no", 1, 2],
    },
  },
  {
    id: clusterLayer,
    type: "symbol",
    source,
    filter: ["has", "point_count"],
    layout: {
      "icon-image": clusterImage(theme),
      "icon-allow-overlap": true,
      "text-field": ["get", "point_count_abbreviated"],
      "text-allow-overlap": true,
      "text-font": ["system-ui", "sans-serif"],
      "text-size": ["step", ["get", "point_count"], 13, 100, 14, 1000, 15],
    },
    paint: { "text-color": tokenOf("--text") },
  },
];

const stationImage = (theme: Theme): ExpressionSpecification => [
  "concat",
  `s:${theme}:`,
  ["get", "status"],
  ":",
  ["get", "badge"],
];

const clusterImage = (theme: Theme): ExpressionSpecification => [
  "concat",
  `c:${theme}:`,
  ["step", ["get", "point_count"], 0, 10, 1, 100, 2, 1000, 3],
  ...shownStatuses.flatMap((status, at): (string | ExpressionSpecification)[] => [
    at === 0 ? ":" : ".",
    share(status),
  ]),
];

/** A status's share of a cluster in steps; what is there at all has one step at least. */
const share = (status: string): ExpressionSpecification => [
  "max",
  ["min", 1, ["get", status]],
  ["round", ["*", steps, ["/", ["get", status], ["get", "point_count"]]]],
];

/** Draws them in the theme's colours. */
export function paintStations(map: MapLibre, theme: Theme): void {
  map.setLayoutProperty(stationLayer, "icon-image", stationImage(theme));
  map.setLayoutProperty(clusterLayer, "icon-image", clusterImage(theme));
  map.setPaintProperty(clusterLayer, "text-color", tokenOf("--text"));
  map.setPaintProperty("chosen", "circle-color", tokenOf("--accent"));
  map.setPaintProperty("chosen", "circle-stroke-color", tokenOf("--accent"));
}

/** Shows these stations and no others. */
export function showStations(map: MapLibre, stations: readonly Station[]): void {
  void map.getSource<GeoJSONSource>(source)?.setData({
    type: "FeatureCollection",
    features: stations.map(({ id, lat, lon, fuel }) => ({
      type: "Feature",
      geometry: { type: "Point", coordinates: [lon, lat] },
      properties: { id, status: fuel.status, badge: badgeOf(fuel) },
    })),
  });
}

/** Rings the station, where it is not part of a cluster. */
export function ringStation(map: MapLibre, id: string | null): void {
  map.setFilter("chosen", ["==", ["get", "id"], id ?? ""]);
}

/** The zoom at which a cluster falls apart. */
export const zoomOfCluster = (map: MapLibre, clusterId: number): Promise<number> =>
  map.getSource<GeoJSONSource>(source)?.getClusterExpansionZoom(clusterId) ??
  Promise.resolve(map.getZoom() + 2);

const badgeOf = ({ conflict, pending_status: pending }: Station["fuel"]): Badge =>
  conflict !== null ? "conflict" : pending === "" ? "" : "pending";
