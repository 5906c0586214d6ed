import type { LayerSpecification, StyleSpecification } from "maplibre-gl";
import { worldX, worldY } from "#web/kit/map-view.ts";
import type { Target } from "#web/widget/map-handle.ts";
import { language } from "#web/widget/words.ts";

/** A style's host has so long to answer; then the map opens with our own tiles. */
const patienceMs = 2000;

type Source = StyleSpecification["sources"][string];

/**
 * The MapLibre style of another host, as soon as that host has also answered for its sources and for a tile where the map
 * opens; null when any of it fails, is no style, or is not there in two seconds (decisions 15.46). It comes without
 * fonts and icons, so that nothing else can be missing later and no sign competes with a station's.
 */
export async function openStyle(
  address: string,
  start: Target,
): Promise<{ style: StyleSpecification; credit: string } | null> {
  const signal = AbortSignal.timeout(patienceMs);
  const ask = async (url: string): Promise<Response> => {
    const answer = await fetch(url, { signal });
    const isPage = answer.headers.get("content-type")?.includes("html") ?? false;
    if (!answer.ok || isPage) throw new Error(`${url}: ${answer.status}`);
    return answer;
  };
  try {
    const style = (await (await ask(address)).json()) as StyleSpecification;
    const named = await Promise.all(
      Object.entries(style.sources).map(async ([name, source]) => {
        const { url, ...own } = source as { url?: string };
        const known = url === undefined ? {} : ((await (await ask(url)).json()) as object);
        return [name, { ...known, ...own } as Source] as const;
      }),
    );
    // The body too: a host may answer and then hang.
    await Promise.all(
      named
        .flatMap(([, source]) => firstTile(source, start) ?? [])
        .map((url) => ask(url).then((one) => one.arrayBuffer())),
    );
    const { glyphs: _, sprite: __, ...rest } = style;
    const credits = named.map(([, source]) => (source as { attribution?: string }).attribution);
    return {
      style: { ...rest, sources: Object.fromEntries(named), layers: style.layers.flatMap(plain) },
      // They are written as links, but the page shows text.
      credit: credits
        .filter(Boolean)
        .join(" · ")
        .replaceAll(/<[^>]*>/g, ""),
    };
  } catch {
    return null;
  }
}

/** The address of the tile under the middle of the map; undefined for a source without tiles. */
function firstTile(source: Source, { lat, lon, zoom }: Target): string | undefined {
  const {
    tiles: [template] = [],
    minzoom = 0,
    maxzoom = 22,
  } = source as {
    tiles?: string[];
    minzoom?: number;
    maxzoom?: number;
  };
  const z = Math.min(maxzoom, Math.floor(zoom));
  if (z < minzoom) return undefined;
  const at = (share: number): string => String(Math.floor(share * 2 ** z));
  return template
    ?.replace("{z}", String(z))
    .replace("{x}", at(worldX(lon)))
    .replace("{y}", at(worldY(lat)));
}

/** The layer with the system's letters and names in the page's language; nothing of one that is only pictures. */
function plain(layer: LayerSpecification): LayerSpecification[] {
  const isPattern = Object.keys(layer.paint ?? {}).some((name) => name.endsWith("-pattern"));
  if (isPattern) return [];
  if (layer.type !== "symbol") return [layer];
  const { "icon-image": _, "text-field": text, ...layout } = layer.layout ?? {};
  if (text === undefined) return [];
  const isName = JSON.stringify(text).includes("name");
  const name = ["coalesce", ["get", `name:${language}`], ["get", "name"]] as typeof text;
  return [
    {
      ...layer,
      layout: {
        ...layout,
        "text-field": isName ? name : text,
        "text-font": ["system-ui", "sans-serif"],
      },
    },
  ];
}
