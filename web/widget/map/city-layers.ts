import type { ExpressionSpecification, GeoJSONSource, Map as MapLibre } from "maplibre-gl";
import { cityName } from "#src/contract/city-name.ts";
import type { Theme } from "#web/kit/theme.ts";
import type { City } from "#web/widget/api.ts";
import { mapColours } from "#web/widget/colours.ts";
import { townPxPerRoot } from "#web/widget/looks.ts";
import { language } from "#web/widget/words.ts";

const source = "cities";

// Names lie beside the town's middle, else beyond the ring of a cluster that lies there; in letters' heights.
const anchors: (string | [number, number])[] = [...around(0.9), ...around(2.6), ...around(3.8)];

/** Adds soft patches where towns are, as wide as their people need, and the towns' names. */
export function addCities(map: MapLibre, theme: Theme, towns: boolean): void {
  const { town, label, halo } = mapColours[theme];
  map.addSource(source, { type: "geojson", data: { type: "FeatureCollection", features: [] } });
  if (towns) {
    map.addLayer({
      id: "towns",
      type: "circle",
      source,
      paint: {
        "circle-color": town,
        "circle-blur": 0.8,
        "circle-opacity": 0.9,
        "circle-radius": [
          "interpolate",
          ["exponential", 2],
          ["zoom"],
          0,
          radius(0),
          20,
          radius(20),
        ],
      },
    });
  }
  map.addLayer({
    id: "city-names",
    type: "symbol",
    source,
    filter: [
      ">=",
      ["get", "population"],
      ["step", ["zoom"], 1_000_000, 4, 500_000, 5, 250_000, 6, 100_000, 7, 50_000, 8, 0],
    ],
    layout: {
      "text-field": ["get", "name"],
      "text-font": ["system-ui", "sans-serif"],
      "text-size": [
        "interpolate",
        ["linear"],
        ["zoom"],
        3,
        ["step", ["get", "population"], 11, 500_000, 12, 1_000_000, 13],
        10,
        ["step", ["get", "population"], 13, 500_000, 16, 1_000_000, 18],
      ],
      // Names give way: to clusters, which are placed first, and to larger towns.
      "text-variable-anchor-offset": anchors,
      "text-justify": "auto",
      "text-padding": 4,
      "symbol-sort-key": ["-", 0, ["get", "population"]],
    },
    paint: {
      "text-color": label,
      "text-halo-color": halo,
      "text-halo-width": 1.6,
    },
  });
}

function around(away: number): (string | [number, number])[] {
  return ["top", [0, away], "bottom", [0, -away], "left", [away, 0], "right", [-away, 0]];
}

const radius = (zoom: number): ExpressionSpecification => [
  "*",
  ["sqrt", ["get", "population"]],
  townPxPerRoot * 2 ** zoom,
];

/** Shows these cities and no others. */
export function showCities(map: MapLibre, cities: readonly City[]): void {
  void map.getSource<GeoJSONSource>(source)?.setData({
    type: "FeatureCollection",
    features: cities.map(({ name, lat, lon, population }) => ({
      type: "Feature",
      geometry: { type: "Point", coordinates: [lon, lat] },
      properties: { name: cityName(language, name), population },
    })),
  });
}

/** Draws them in the theme's colours. */
export function paintCities(map: MapLibre, theme: Theme): void {
  const { town, label, halo } = mapColours[theme];
  if (map.getLayer("city-names") === undefined) return;
  if (map.getLayer("towns") !== undefined) map.setPaintProperty("towns", "circle-color", town);
  map.setPaintProperty("city-names", "text-color", label);
  map.setPaintProperty("city-names", "text-halo-color", halo);
}
