import { access, constants } from "node:fs/promises";
import type { Config } from "#src/infrastructure/config.ts";
import { readMetadata } from "#src/infrastructure/pmtiles.ts";

/** The data that a page needs to draw its base map; part of the widget's config (decisions 6). */
export interface Basemap {
  /**
   * `bundled`: our own land and sea, vector PMTiles. `pmtiles`: the operator's extract, vector or raster by its header.
   * `style`: a MapLibre style document. `raster`: pictures under an address with {z}, {x}, {y}.
   */
  kind: "bundled" | "pmtiles" | "style" | "raster";
  /** An absolute address, or a path on this server. */
  url: string;
  /** A style for the dark theme, on the same host. */
  dark?: string;
  /** The credit that the source demands, shown as text. */
  attribution: string;
}

/** The paths of this server's own base maps, served by Range. */
export const bundledPath = "/basemap/bundled.pmtiles";
export const operatorPath = "/basemap/operator.pmtiles";

/** The base map that the setting BASEMAP names; `parseBasemap` has checked it. */
export function basemapOf({ basemap, basemapAttribution: attribution }: Config): Basemap {
  if (basemap === "bundled")
    return { kind: "bundled", url: bundledPath, attribution: attribution || "Natural Earth" };
  if (basemap === "openfreemap")
    return { kind: "style", ...openFreeMap, attribution: attribution || openFreeMapCredit };
  if (!isAddress(basemap))
    return {
      kind: "pmtiles",
      url: operatorPath,
      attribution: attribution || creditOf(basemap),
    };
  const kind = isTemplate(basemap) ? "raster" : isArchive(basemap) ? "pmtiles" : "style";
  return { kind, url: basemap, attribution };
}

const openFreeMap = {
  url: "https://tiles.openfreemap.org/styles/positron",
  dark: "https://tiles.openfreemap.org/styles/dark",
};
const openFreeMapCredit = "OpenFreeMap © OpenMapTiles © OpenStreetMap contributors";

/** The host that viewers' browsers ask for the base map; null when they ask only this service. */
export function basemapHost(config: Config): string | null {
  const { url } = basemapOf(config);
  return isAddress(url) ? new URL(url).origin : null;
}

/** A line about the base map for the operator, at the start; null where it is the operator's own file and can be read. */
export async function basemapWord(config: Config): Promise<string | null> {
  if ((await basemapState(config)) === "missing")
    return `the map has no streets: the file of BASEMAP, ${config.basemap}, cannot be read`;
  const host = basemapHost(config);
  if (host !== null)
    return `the map comes from ${host}, which viewers' browsers ask: BASEMAP=bundled asks nobody`;
  return config.basemap === "bundled"
    ? "the map has no streets: set BASEMAP=openfreemap for those of tiles.openfreemap.org, or BASEMAP=FILE.pmtiles for your own (docs/operations.md)"
    : null;
}

const credits = new Map<string, string>();

/** The credit inside an archive of this server, as text; read once, "" if it cannot be read. */
function creditOf(file: string): string {
  let credit = credits.get(file);
  if (credit !== undefined) return credit;
  try {
    const { attribution } = readMetadata(file) as { attribution?: unknown };
    // Some tools write a link, but the page shows text.
    credit = typeof attribution === "string" ? attribution.replaceAll(/<[^>]*>/g, "") : "";
    credits.set(file, credit);
    return credit;
  } catch {
    return "";
  }
}

/** The operator's PMTiles file that this server serves; null without one. */
export const basemapFile = ({ basemap }: Pick<Config, "basemap">): string | null =>
  isKnown(basemap) || isAddress(basemap) ? null : basemap;

/** The kind of base map; `missing` if its file cannot be read. */
export async function basemapState(config: Config): Promise<"bundled" | "own" | "missing"> {
  if (config.basemap === "bundled") return "bundled";
  const file = basemapFile(config);
  if (file === null) return "own";
  return access(file, constants.R_OK).then(
    () => "own",
    () => "missing",
  );
}

/** Checks the setting's form: `bundled`, `openfreemap`, the path of a .pmtiles file, or an http(s) address. */
export function parseBasemap(text: string): string {
  if (isKnown(text) || (!isAddress(text) && isArchive(text))) return text;
  if (isAddress(text) && URL.canParse(text)) return text;
  throw new Error(
    "bundled, openfreemap, the path of a .pmtiles file, or the http(s) address of a .pmtiles file, a style or raster tiles ({z}/{x}/{y})",
  );
}

const isKnown = (text: string): boolean => text === "bundled" || text === "openfreemap";
const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);
const isTemplate = (text: string): boolean =>
  ["{z}", "{x}", "{y}"].every((one) => text.includes(one));
const isArchive = (text: string): boolean => /\.pmtiles$/i.test(text.replace(/[?#].*$/s, ""));

/** A point and the zoom to show it at. */
export interface Center {
  lat: number;
  lon: number;
  zoom: number;
}

/** Reads `lat,lon,zoom` (degrees; zoom 0 to 22); null for anything else. */
export function parseCenter(text: string): Center | null {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length !== 3 || !parts.every((part) => /^-?\d+(\.\d+)?$/.test(part))) return null;
  const [lat = 0, lon = 0, zoom = 0] = parts.map(Number);
  const fits = Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && zoom >= 0 && zoom <= 22;
  return fits ? { lat, lon, zoom } : null;
}
