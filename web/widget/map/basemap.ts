import {
  addProtocol,
  type LayerSpecification,
  type Map as MapLibre,
  type StyleSpecification,
} from "maplibre-gl";
import { PMTiles, Protocol, TileType } from "pmtiles";
import type { Theme } from "#web/kit/theme.ts";
import { mapColours } from "#web/widget/colours.ts";
import { bundledLayers } from "#web/widget/map/bundled-style.ts";
import { openStyle } from "#web/widget/map/open-style.ts";
import { withSea } from "#web/widget/map/sea.ts";
import type { Target } from "#web/widget/map-handle.ts";
import { language } from "#web/widget/words.ts";
import type { BasemapConfig } from "#web/widget/state.ts";

/** A base map: the map's first style, and a function that makes its colours follow the theme. */
export interface Basemap {
  style: StyleSpecification;
  paint(map: MapLibre, theme: Theme): void;
}

/** The kind that was opened, which may be another than the operator's, and the credit that it demands. */
type Opened = Basemap & Pick<BasemapConfig, "kind" | "attribution">;

const source = "base";

/**
 * The base map that the operator has chosen (decisions 6), or our own where a style's host does not answer. `root` is
 * where the service lies, `start` where the map opens.
 */
export async function openBasemap(
  config: BasemapConfig,
  { theme, root, start }: { theme: Theme; root: string; start: Target },
): Promise<Opened> {
  const { kind, attribution } = config;
  if (kind !== "style") return { kind, attribution, ...(await openOwn(config, theme, root)) };
  const found = await openStyle(styleFor(config, theme), start);
  if (found !== null) {
    const { style, credit } = found;
    return {
      kind,
      attribution: attribution || credit,
      style,
      paint: swapping(config, style, start),
    };
  }
  const url = new URL("basemap/bundled.pmtiles", root).href;
  const land = { kind: "bundled", url, attribution: "Natural Earth" } as const;
  return { ...land, ...(await openOwn(land, theme, root)) };
}

/** One of this service, or an archive or pictures elsewhere. */
async function openOwn({ kind, url }: BasemapConfig, theme: Theme, root: string): Promise<Basemap> {
  const address = /^https?:/i.test(url) ? url : new URL(url.replace(/^\//, ""), root).href;
  if (kind === "raster") return raster([address], theme);
  const land = new URL("basemap/bundled.pmtiles", root).href;
  const protocol = new Protocol();
  addProtocol("pmtiles", withSea(protocol.tile, land));
  const archive = new PMTiles(address);
  protocol.add(archive);
  if (kind === "bundled") return bundled(address, theme);
  const { tileType } = await archive.getHeader();
  return tileType === TileType.Mvt
    ? protomaps(address, land, theme)
    : raster([`pmtiles://${address}/{z}/{x}/{y}`], theme);
}

const styleFor = ({ url, dark }: BasemapConfig, theme: Theme): string =>
  theme === "dark" ? (dark ?? url) : url;

/** Changes to the other theme's style, where there is one and its host answers; what lies on the map stays. */
function swapping(
  config: BasemapConfig,
  first: StyleSpecification,
  start: Target,
): Basemap["paint"] {
  let shown = first;
  let wanted: Theme | null = null;
  return (map, theme) => {
    wanted = theme;
    if (config.dark === undefined) return;
    void openStyle(styleFor(config, theme), start).then((found) => {
      if (found === null || wanted !== theme) return;
      const old = new Set(shown.layers.map(({ id }) => id));
      map.setStyle(found.style, {
        transformStyle: (now, next) => ({
          ...next,
          sources: {
            ...Object.fromEntries(
              Object.entries(now?.sources ?? {}).filter(([name]) => !(name in shown.sources)),
            ),
            ...next.sources,
          },
          layers: [...next.layers, ...(now?.layers ?? []).filter(({ id }) => !old.has(id))],
        }),
      });
      shown = found.style;
    });
  };
}

/** Our own tiles. */
function bundled(address: string, theme: Theme): Basemap {
  return {
    style: styleOf({ type: "vector", url: `pmtiles://${address}` }, bundledLayers(theme)),
    paint: (map, next) => repaintAll(map, bundledLayers(next)),
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
      { id: "unknown", type: "background", paint: { "background-color": earth } },
      {
        id: "sea",
        type: "fill",
        source: ground,
        "source-layer": "sea",
        paint: { "fill-color": water, "fill-antialias": false },
      },
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
    paint: (map, next) => repaintAll(map, all(next)),
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

function repaintAll(map: MapLibre, layers: readonly LayerSpecification[]): void {
  for (const { id, paint } of layers) repaint(map, id, paint);
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
