import type { Refused } from "#src/import/file-import.ts";
import type { Point } from "#src/domain/geo.ts";
import { isInMetres } from "#src/import/file-import.ts";
import { isRecord } from "#src/import/json-items.ts";
import { idOf } from "#src/stations/own-ids.ts";

export type Tags = Readonly<Record<string, unknown>>;

/** One object of an OSM extract, from any format. */
export interface OsmObject extends Point {
  /** `n123`, `w123`, `r123`, or `<source>-<id>` for ids that are not OSM's. */
  id: string;
  /** The source's own id, where it is not OSM's. */
  own?: string;
  tags: Tags;
}

export type ReadObject = (item: unknown, source: string) => OsmObject | Refused;

/** An element of Overpass JSON (`out center tags`, `out bb`, `out geom`). */
export const fromOverpass: ReadObject = (item) => {
  if (!isRecord(item)) return { refused: "not-an-object" };
  const letter = letters.get(item["type"]);
  const number = osmNumber(item["id"]);
  if (letter === undefined || number === null) return { refused: "no-id" };
  const tags = isRecord(item["tags"]) ? item["tags"] : {};
  const point =
    pointOf(item) ?? pointOf(item["center"]) ?? middleOf(item["bounds"], item["geometry"]);
  return located(point, letter + number, tags);
};

/** A feature of GeoJSON whose properties are OSM tags. Lines and areas count at the middle of their extent. */
export const fromGeojson: ReadObject = (item, source) => {
  if (!isRecord(item) || item["type"] !== "Feature") return { refused: "not-an-object" };
  const tags = isRecord(item["properties"]) ? item["properties"] : {};
  const osm = featureId(item, tags);
  const own = osm === null ? ownId(item["id"] ?? tags["id"]) : undefined;
  if (own === "") return { refused: "no-id" };
  const id = osm ?? idOf(source, own!);
  const geometry = isRecord(item["geometry"]) ? item["geometry"] : {};
  const object = located(middleOfExtent(pairs(geometry["coordinates"])), id, tags);
  return own === undefined || "refused" in object ? object : { ...object, own };
};

const ownId = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value).trim() : "";

const letters = new Map<unknown, string>([
  ["node", "n"],
  ["way", "w"],
  ["relation", "r"],
]);

const osmNumber = (value: unknown): string | null =>
  /^[1-9]\d{0,17}$/.test(String(value)) ? String(value) : null;

function located(point: Point | null, id: string, tags: Tags): OsmObject | Refused {
  if (point === null) return { refused: "no-position" };
  const reason = wrongPosition(point);
  if (reason !== null) return { refused: reason };
  return { id, lat: round(point.lat), lon: round(point.lon), tags };
}

/** Why a point is no place on the globe; null for one that is. Broken exports write nearly 0, 0 for an unknown one. */
export function wrongPosition({ lat, lon }: Point): "in-metres" | "bad-position" | null {
  if (isInMetres(lat, lon)) return "in-metres";
  const isReal = Math.abs(lat) <= 90 && Math.abs(lon) <= 180;
  return isReal && (Math.abs(lat) > nullIsland || Math.abs(lon) > nullIsland)
    ? null
    : "bad-position";
}

const nullIsland = 1e-3;

// OSM keeps seven decimals; with more, a computed middle would look changed at the next import.
export const round = (degrees: number): number => Math.round(degrees * 1e7) / 1e7;

function pointOf(value: unknown): Point | null {
  if (!isRecord(value)) return null;
  const { lat, lon } = value;
  return Number.isFinite(lat) && Number.isFinite(lon)
    ? { lat: lat as number, lon: lon as number }
    : null;
}

function middleOf(bounds: unknown, geometry: unknown): Point | null {
  const points: Point[] = Array.isArray(geometry)
    ? geometry.flatMap((one) => pointOf(one) ?? [])
    : [];
  if (isRecord(bounds)) {
    const low = pointOf({ lat: bounds["minlat"], lon: bounds["minlon"] });
    const high = pointOf({ lat: bounds["maxlat"], lon: bounds["maxlon"] });
    if (low !== null && high !== null) points.push(low, high);
  }
  return middleOfExtent(points);
}

/** The middle between the outermost points; null without any. */
export function middleOfExtent(points: readonly Point[]): Point | null {
  if (points.length === 0) return null;
  const middle = (values: readonly number[]): number =>
    (values.reduce((a, b) => Math.min(a, b)) + values.reduce((a, b) => Math.max(a, b))) / 2;
  return { lat: middle(points.map(({ lat }) => lat)), lon: middle(points.map(({ lon }) => lon)) };
}

/** All `[lon, lat]` pairs at any depth of GeoJSON coordinates. */
function pairs(coordinates: unknown): Point[] {
  if (!Array.isArray(coordinates)) return [];
  const [lon, lat] = coordinates as unknown[];
  if (typeof lon === "number" && typeof lat === "number")
    return Number.isFinite(lon) && Number.isFinite(lat) ? [{ lat, lon }] : [];
  return coordinates.flatMap(pairs);
}

/** The id in OSM, from `node/123` (osmtogeojson, overpass turbo), `n123` (osmium), or osm_type and osm_id (QGIS, ogr). */
function featureId(feature: Record<string, unknown>, tags: Tags): string | null {
  for (const value of [feature["id"], tags["@id"], tags["id"], tags["osm_id"]]) {
    const [, word, letter, number] =
      /^(?:(node|way|relation)\/|([nwra]))([1-9]\d{0,14})$/.exec(String(value)) ?? [];
    // osmium numbers areas: twice the number of a way, or twice that of a relation and one.
    if (letter === "a")
      return `${Number(number) % 2 === 0 ? "w" : "r"}${Math.floor(Number(number) / 2)}`;
    if (number !== undefined) return (letter ?? word?.charAt(0) ?? "") + number;
  }
  const letter = letters.get(tags["osm_type"] ?? tags["@type"]);
  const number = osmNumber(tags["osm_id"] ?? tags["@id"]);
  return letter !== undefined && number !== null ? letter + number : null;
}
