import {
  addProtocol,
  type LayerSpecification,
  type Map as MapLibre,
  type StyleSpecification,
} from "maplibre-gl";
import { PMTiles, Protocol, TileType } from "pmtiles";
import type { Theme } from "#web/kit/theme.ts";
import { mapColours } from "#web/widget/colours.ts";
import { language } from "#web/widget/words.ts";
import type { BasemapConfig } from "#web/widget/state.ts";

/** A base map: the map's first style, and a function that makes its colours follow the theme. */
export interface Basemap {
  style: StyleSpecification | string;
  paint(map: MapLibre, theme: Theme): void;
}

const source = "base";
const still = (): void => {};

/** The base map that the operator has chosen (decisions 6). `root` is where the service lies. */
export async function openBasemap(
  { kind, url }: BasemapConfig,
  theme: Theme,
  root: string,
): Promise<Basemap> {
  const address = /^https?:/i.test(url) ? url : new URL(url.replace(/^\//, ""), root).href;
  if (kind === "style") return { style: address, paint: still };
  if (kind === "raster") return raster([address], theme);
  const protocol = new Protocol();
  addProtocol("pmtiles", protocol.tile);
  const archive = new PMTiles(address);
  protocol.add(archive);
  if (kind === "bundled") return bundled(address, theme);
  const { tileType } = await archive.getHeader();
  return tileType === TileType.Mvt
    ? protomaps(address, new URL("basemap/bundled.pmtiles", root).href, theme)
    : raster([`pmtiles://${address}/{z}/{x}/{y}`], theme);
}

/** Sea, a blurred coast, land: our own tiles. */
function bundled(address: string, theme: Theme): Basemap {
  const { sea, land, coast } = mapColours[theme];
  const layers: LayerSpecification[] = [
    { id: "sea", type: "background", paint: { "background-color": sea } },
    {
      id: "coast",
      type: "line",
      source,
      "source-layer": "land",
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
      source,
      "source-layer": "land",
      paint: { "fill-color": land, "fill-antialias": false },
    },
  ];
  return {
    style: styleOf({ type: "vector", url: `pmtiles://${address}` }, layers),
    paint: (map, next) => {
      const colours = mapColours[next];
      map.setPaintProperty("sea", "background-color", colours.sea);
      map.setPaintProperty("coast", "line-color", colours.coast);
      map.setPaintProperty("land", "fill-color", colours.land);
    },
  };
}

const ground = "ground";

/**
 * A vector extract in the Protomaps schema, drawn without sprites and with the system's letters. Our own land
 * and sea (`land`) lie under it, for places without its tiles: beyond its borders, and at sea (decisions 15.40).
 */
async function protomaps(address: string, land: string, theme: Theme): Promise<Basemap> {
  const { layers, namedFlavor } = await import("@protomaps/basemaps");
  const all = (of: Theme): LayerSpecification[] => {
    const { earth, water } = namedFlavor(of);
    const drawn = layers(source, namedFlavor(of), { lang: language })
      .filter(({ type }) => type !== "background")
      .map((layer) => (layer.type === "symbol" ? withoutIcons(layer) : layer));
    return [
      { id: "sea", type: "background", paint: { "background-color": water } },
      {
        id: ground,
        type: "fill",
        source: ground,
        "source-layer": "land",
        paint: { "fill-color": earth, "fill-antialias": false },
      },
      ...drawn,
    ];
  };
  const style = styleOf({ type: "vector", url: `pmtiles://${address}` }, all(theme));
  style.sources[ground] = { type: "vector", url: `pmtiles://${land}` };
  return {
    style,
    paint: (map, next) => {
      for (const layer of all(next)) repaint(map, layer.id, layer.paint);
    },
  };
}

type SymbolLayer = Extract<LayerSpecification, { type: "symbol" }>;

function withoutIcons({ layout = {}, ...layer }: SymbolLayer): SymbolLayer {
  const { "icon-image": _, ...rest } = layout;
  return { ...layer, layout: { ...rest, "text-font": ["system-ui", "sans-serif"] } };
}

function raster(tiles: string[], theme: Theme): Basemap {
  const layers: LayerSpecification[] = [
    { id: "sea", type: "background", paint: { "background-color": mapColours[theme].land } },
    { id: "raster", type: "raster", source, paint: dimmed(theme) },
  ];
  return {
    style: styleOf({ type: "raster", tiles, tileSize: 256 }, layers),
    paint: (map, next) => {
      map.setPaintProperty("sea", "background-color", mapColours[next].land);
      repaint(map, "raster", dimmed(next));
    },
  };
}

function repaint(map: MapLibre, layer: string, paint: object = {}): void {
  type Name = Parameters<MapLibre["setPaintProperty"]>[1];
  for (const [name, value] of Object.entries(paint))
    map.setPaintProperty(layer, name as Name, value);
}

/** Pictures have one set of colours: in the dark they are dimmed. */
const dimmed = (theme: Theme) => ({
  "raster-brightness-max": theme === "dark" ? 0.55 : 1,
  "raster-saturation": theme === "dark" ? -0.5 : -0.1,
});

const styleOf = (
  base: StyleSpecification["sources"][string],
  layers: LayerSpecification[],
): StyleSpecification => ({ version: 8, sources: { [source]: base }, layers });
