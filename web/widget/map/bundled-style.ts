import type { ExpressionSpecification, LayerSpecification } from "maplibre-gl";
import type { Theme } from "#web/kit/theme.ts";
import { mapColours } from "#web/widget/colours.ts";
import { language } from "#web/widget/words.ts";

const source = "base";
const isOf = (what: "country" | "region"): ExpressionSpecification => ["==", ["get", "of"], what];

/** Zooms between which the rivers go: they lie a kilometre off at places, which would be told apart by then. */
const riversEnd = [7.5, 9] as const;

/**
 * The layers of our own tiles (web/build/basemap.ts, and sea.ts), from the sea up: everything is paler than any sign on the map, and
 * names give way to those of towns.
 */
export function bundledLayers(theme: Theme): LayerSpecification[] {
  const { sea, land, coast, border, region, river, halo } = mapColours[theme];
  return [
    // Land, until a tile says that there is sea.
    { id: "unknown", type: "background", paint: { "background-color": land } },
    {
      id: "sea",
      type: "fill",
      ...{ source, "source-layer": "sea" },
      paint: { "fill-color": sea, "fill-antialias": false },
    },
    {
      id: "coast",
      type: "line",
      ...{ source, "source-layer": "land" },
      paint: {
        "line-color": coast,
        "line-width": ["interpolate", ["linear"], ["zoom"], 2, 2, 8, 8],
        "line-blur": ["interpolate", ["linear"], ["zoom"], 2, 2, 8, 8],
        "line-opacity": 0.8,
      },
    },
    {
      id: "land",
      type: "fill",
      ...{ source, "source-layer": "land" },
      paint: { "fill-color": land, "fill-antialias": false },
    },
    {
      id: "rivers",
      type: "line",
      ...{ source, "source-layer": "rivers" },
      layout: { "line-cap": "round", "line-join": "round" },
      paint: {
        "line-color": river,
        "line-width": [
          "interpolate",
          ["exponential", 1.4],
          ["zoom"],
          2,
          ["*", ["get", "width"], 1.2],
          9,
          ["*", ["get", "width"], 7],
        ],
        "line-opacity": ["interpolate", ["linear"], ["zoom"], riversEnd[0], 1, riversEnd[1], 0],
      },
    },
    {
      id: "lakes",
      type: "fill",
      ...{ source, "source-layer": "lakes" },
      paint: { "fill-color": sea, "fill-outline-color": coast },
    },
    {
      id: "region-borders",
      type: "line",
      ...{ source, "source-layer": "borders" },
      filter: isOf("region"),
      layout: { "line-join": "round" },
      paint: {
        "line-color": border,
        "line-width": ["interpolate", ["linear"], ["zoom"], 4, 0.6, 9, 1.4],
        "line-dasharray": [4, 2.5],
      },
    },
    {
      id: "country-borders",
      type: "line",
      ...{ source, "source-layer": "borders" },
      filter: isOf("country"),
      layout: { "line-join": "round" },
      paint: {
        "line-color": border,
        "line-width": ["interpolate", ["linear"], ["zoom"], 2, 0.8, 9, 3],
      },
    },
    {
      id: "region-names",
      type: "symbol",
      ...{ source, "source-layer": "names" },
      minzoom: 4,
      maxzoom: 9,
      filter: ["all", isOf("region"), [">=", ["zoom"], ["-", ["get", "from"], 0.5]]],
      layout: {
        ...named(7),
        "text-size": ["interpolate", ["linear"], ["zoom"], 4, 10.5, 8, 13],
      },
      paint: { "text-color": region, "text-halo-color": halo, "text-halo-width": 1.2 },
    },
    {
      id: "country-names",
      type: "symbol",
      ...{ source, "source-layer": "names" },
      maxzoom: 6.5,
      filter: isOf("country"),
      layout: {
        ...named(8),
        "text-size": [
          "interpolate",
          ["linear"],
          ["zoom"],
          2,
          ["step", ["get", "area"], 10, 60, 12, 400, 14],
          6,
          ["step", ["get", "area"], 13, 60, 15, 400, 18],
        ],
        "text-letter-spacing": 0.08,
      },
      paint: { "text-color": region, "text-halo-color": halo, "text-halo-width": 1.4 },
    },
  ];
}

type Layout = NonNullable<Extract<LayerSpecification, { type: "symbol" }>["layout"]>;

/** A name in the page's language, broken after so many letters' widths; larger places keep theirs. */
const named = (width: number): Layout => ({
  "text-field": ["get", language],
  "text-font": ["system-ui", "sans-serif"],
  "text-max-width": width,
  "text-padding": 6,
  "symbol-sort-key": ["-", 0, ["get", "area"]],
});
