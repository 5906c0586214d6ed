import { between, flag } from "#src/contract/shapes/kinds.ts";
import { type Static, Type } from "typebox";
import type { CityStore } from "#snapshots/cities.ts";
import type { Area } from "#snapshots/model/block-list.ts";
import type { Sort } from "#snapshots/model/queries.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import { type Filters, filtersKey, parseSearch } from "#snapshots/model/filters.ts";
import type { Box } from "#src/domain/geo.ts";
import { entries, readList } from "#src/contract/query.ts";
import { isRefusal, type Refusal, refuse } from "#src/contract/refusals.ts";
import { refuseGrade } from "#src/contract/report.ts";
import {
  gradesIn,
  parseGrade,
  type Queue,
  queues,
  type ServedStatus,
  statuses,
} from "#src/domain/vocabulary.ts";

/** The filters that /stations and /stations/all share (docs/contract.md 4.1). */
export const filterParameters = {
  q: Type.Optional(
    Type.String({
      description:
        "Words that must all occur in name, brand or address, or be another spelling of the brand; 95, дт and the like are grade filters",
      examples: ["ленина 95"],
    }),
  ),
  status: Type.Optional(
    Type.String({
      description: "Comma list of yes, low, no, queue, nodata",
      examples: ["yes,low"],
    }),
  ),
  fuel: Type.Optional(
    Type.String({
      description: "Comma list of grades, all of them present: 92, 95, 98, 100, ДТ (or dt, дизель)",
      examples: ["95,ДТ"],
    }),
  ),
  sells: Type.Optional(
    Type.String({
      description:
        "Comma list of grades, all of them sold there, out today or not. Stations whose grades are unknown do not pass",
      examples: ["98"],
    }),
  ),
  opened: Type.Optional(
    flag(
      "true: only stations that are open now, by their opening hours; false: only those that are closed now. Unknown hours pass neither",
    ),
  ),
  brand: Type.Optional(
    Type.String({
      description: "Brand name, case-insensitive; other spellings find it too: Lukoil, Лукойл",
      examples: ["Лукойл"],
    }),
  ),
  has_price: Type.Optional(flag("true: only stations with fresh prices")),
  queue: Type.Optional(
    Type.String({ description: "Comma list of 0-5, 5-10, 10-20, 20+", examples: ["0-5,5-10"] }),
  ),
  fresh_h: Type.Optional(between("Status no older than N hours", 1, 24)),
  chance_min: Type.Optional(
    Type.Integer({
      ...{ minimum: 0, maximum: 100 },
      description:
        "Only stations that have fuel with at least this chance, percent. Stations whose chance is unknown do not pass",
      examples: [70],
    }),
  ),
};
const filterSchema = Type.Object(filterParameters);

/** Parameters of CSV only. */
export const csvParameters = {
  bom: Type.Optional(
    flag("CSV only: true begins with a byte order mark, by which spreadsheets know UTF-8"),
  ),
};

const served = [...statuses, "nodata"] as const;

type FilterQuery = Static<typeof filterSchema>;

/** Filters of stations, and the same in one spelling (`filtersKey`). */
export interface ReadFilters {
  filters: Filters;
  filtersKey: string;
}

/** Reads the filters, or refuses the first that names something unknown. */
export function readFilters(query: FilterQuery): ReadFilters | Refusal {
  const wanted = entries(query.status ?? "");
  const lines = entries(query.queue ?? "").map((item) => (item === "20" ? "20+" : item));
  const lists = { fuel: entries(query.fuel ?? ""), sells: entries(query.sells ?? "") };
  const badStatus = unknownOf("status", wanted, served);
  if (badStatus !== null) return badStatus;
  const badQueue = unknownOf("queue", lines, queues);
  if (badQueue !== null) return badQueue;
  for (const list of ["fuel", "sells"] as const) {
    const unknown = lists[list].find((name) => parseGrade(name) === undefined);
    if (unknown !== undefined) return refuseGrade(unknown, list);
  }
  const search = parseSearch(query.q ?? "");
  const filters: Filters = {
    statuses: wanted as ServedStatus[],
    queues: lines as Queue[],
    grades: [...gradesIn(lists.fuel.join()), ...search.grades],
    sold: gradesIn(lists.sells.join()),
    words: search.words,
    // A blank one is none: its key is that of no brand, by which dumps are found.
    brand: (query.brand ?? "").trim(),
    priced: query.has_price ?? false,
    ...(query.opened === undefined ? {} : { opened: query.opened }),
    ...(query.fresh_h === undefined ? {} : { freshH: query.fresh_h }),
    ...(query.chance_min === undefined ? {} : { chanceMin: query.chance_min }),
  };
  return { filters, filtersKey: filtersKey(filters) };
}

function unknownOf(
  name: string,
  items: readonly string[],
  allowed: readonly string[],
): Refusal | null {
  const input = items.find((item) => !allowed.includes(item));
  if (input === undefined) return null;
  const msg = `Use a comma list of ${allowed.join(", ")}`;
  return refuse("validation-failed", [{ loc: ["query", name], msg, type: "enum", input }]);
}

const radiusDefaultKm = 25;
const idsMax = 200;

/** The query of /stations (docs/contract.md 4.1). */
export const areaQuery = Type.Object({
  bbox: Type.Optional(
    Type.String({
      default: "",
      description: "`lat1,lon1,lat2,lon2`, south-west to north-east; lon1 > lon2 crosses 180°",
      examples: ["54.9,82.7,55.2,83.2"],
    }),
  ),
  city: Type.Optional(
    Type.String({
      maxLength: 120,
      default: "",
      description:
        "Name; case, ё/е and hyphens are ignored. In Latin letters too, and common short forms: СПб",
    }),
  ),
  radius_km: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 60,
      default: radiusDefaultKm,
      description: "Radius around the city or the point",
    }),
  ),
  lat: Type.Optional(
    Type.Number({
      ...{ minimum: -90, maximum: 90 },
      description: "A point, with `lon` and a secret key: the nearest stations first",
    }),
  ),
  lon: Type.Optional(
    Type.Number({ minimum: -180, maximum: 180, description: "Longitude of the place, degrees" }),
  ),
  ids: Type.Optional(
    Type.String({
      description: `Comma list of up to ${idsMax} ids of stations, with a secret key; in this order`,
      examples: ["n1234567"],
    }),
  ),
  ...filterParameters,
  ...csvParameters,
  sort: Type.Optional(
    Type.Enum(["", "distance", "chance"], {
      type: "string",
      description:
        "distance: nearest first; chance: the highest chance of fuel first, unknown ones last, the nearest first among equals",
    }),
  ),
});
type PlainAreaQuery = Static<typeof areaQuery>;

/** The query of /stations with its filters read, and `bbox`: null when it is not the area. */
export type AreaQuery = PlainAreaQuery & ReadFilters & { box: Box | null };

/** Reads the filters and the rectangle of a query of /stations, or refuses them. */
export function readAreaQuery(query: PlainAreaQuery): AreaQuery | Refusal {
  const read = readFilters(query);
  if (isRefusal(read)) return read;
  const { bbox = "", ids, lat, lon } = query;
  const isArea = ids === undefined && lat === undefined && lon === undefined;
  const box = isArea && bbox !== "" ? parseBox(bbox) : null;
  if (isArea && bbox !== "" && box === null) return refuseBox(bbox);
  return { ...query, ...read, box };
}

/** The stores of cities and stations. */
interface Known {
  cities: Pick<CityStore, "find">;
  model: { locations: Pick<ReadModel["locations"], "box" | "isInside"> };
}

/** The area or the ids that are asked for, and their name in one spelling. */
export interface Where {
  area: Area | { kind: "ids"; ids: readonly string[] };
  name: readonly unknown[];
  /** The order where `sort` says nothing. */
  sort?: Sort;
}

/** Reads the stations that are asked for: of an area, around a point, or by their ids (decisions 7.28, 7.29). */
export function readWhere(known: Known, query: AreaQuery, widen: boolean): Where | Refusal {
  const { lat, lon, ids, bbox, city, sort, radius_km: radiusKm = radiusDefaultKm } = query;
  const hasArea = Boolean(bbox) || Boolean(city?.trim());
  const hasPoint = lat !== undefined || lon !== undefined;
  if (ids !== undefined) {
    if (hasArea || hasPoint || sort) return invalid("ids", "ids goes without an area and sort");
    const list = readList("ids", ids, idsMax);
    if (isRefusal(list)) return list;
    const { items } = list;
    return { area: { kind: "ids", ids: items }, name: ["ids", ...items] };
  }
  if (!hasPoint) return readArea(known, query, widen);
  if (lat === undefined || lon === undefined)
    return invalid(lat === undefined ? "lat" : "lon", "lat and lon go together", "missing");
  if (hasArea) return invalid("lat", "lat and lon go without bbox and city");
  const area = { kind: "circle", centre: { lat, lon }, radiusM: radiusKm * 1000 } as const;
  return { area, name: ["point", lat, lon, radiusKm], sort: "distance" };
}

const invalid = (name: string, msg: string, type = "value_error"): Refusal =>
  refuse("validation-failed", [{ loc: ["query", name], msg, type }]);

/**
 * The area asked for; `bbox` wins over `city`, which is checked all the same (decisions 6). `widen`: a
 * publishable key gets the rectangle of the grid, a secret key its own.
 */
function readArea(
  { cities, model }: Known,
  { box, city = "", radius_km: radiusKm = radiusDefaultKm }: AreaQuery,
  widen: boolean,
): Where | Refusal {
  // A map may be moved to a place without stations, where its rectangle may look like this one.
  if (box !== null && !widen && isSwapped(model, box))
    return lonFirst(box.west, box.south, box.east, box.north);
  if (box === null && city.trim() === "") return refuse("missing-area");
  const centre = city.trim() === "" ? null : cities.find(city);
  if (city.trim() !== "" && centre === null) return refuse("city-not-found");
  if (box !== null) {
    const { south, west, north, east } = widen ? widenBox(box) : box;
    const area = { kind: "box", box: { south, west, north, east } } as const;
    return { area, name: [south, west, north, east] };
  }
  const { lat, lon } = centre!;
  const area = { kind: "circle", centre: { lat, lon }, radiusM: radiusKm * 1000 } as const;
  return { area, name: [lat, lon, radiusKm] };
}

const decimal = /^-?(\d{1,3}(\.\d*)?|\.\d+)$/;

/** Reads `lat1,lon1,lat2,lon2`; null when it is not a rectangle. lon1 > lon2 crosses 180°. */
export function parseBox(text: string): Box | null {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length !== 4 || !parts.every((part) => decimal.test(part))) return null;
  const [south, west, north, east] = parts.map(Number) as [number, number, number, number];
  const inRange = south >= -90 && north <= 90 && Math.abs(west) <= 180 && Math.abs(east) <= 180;
  return inRange && south <= north ? { south, west, north, east } : null;
}

const lonFirst = (south: number, west: number, north: number, east: number): Refusal =>
  refuse(
    "bad-bbox",
    `bbox is lat1,lon1,lat2,lon2, latitude first. This one seems to have the longitudes first: send ${[south, west, north, east].join()}.`,
  );

/** The refusal of a text that is no rectangle; says when it has the longitudes first (decisions 7.25). */
function refuseBox(text: string): Refusal {
  const [a = "", b, c = "", d] = text.split(",");
  const swapped = parseBox([b, a, d, c].join());
  const isBeyond = Math.abs(Number(a)) > 90 || Math.abs(Number(c)) > 90;
  if (swapped === null || !isBeyond) return refuse("bad-bbox");
  return lonFirst(swapped.south, swapped.west, swapped.north, swapped.east);
}

/** True when the rectangle lies away from all stations, and would lie among them with latitudes and longitudes swapped. */
export function isSwapped(
  { locations }: Known["model"],
  { south, west, north, east }: Box,
): boolean {
  const country = locations.box();
  const other = parseBox([west, south, east, north].join());
  if (country === null || other === null || country.west > country.east) return false;
  const touches =
    north >= country.south &&
    south <= country.north &&
    (west > east || (east >= country.west && west <= country.east));
  return !touches && locations.isInside({ kind: "box", box: other });
}

/** The rectangle widened to a 0.01° grid, so that neighbouring views of a map share one answer (decisions 8). */
export function widenBox({ south, west, north, east }: Box): Box {
  const wide = {
    ...{ south: gridLine(south, -1), west: gridLine(west, -1) },
    ...{ north: gridLine(north, 1), east: gridLine(east, 1) },
  };
  // The ends of a view around nearly the whole globe have met.
  if (west > east && wide.west <= wide.east) return { ...wide, west: -180, east: 180 };
  return wide;
}

const perDegree = 100;

/** The line of the grid at these degrees, else the next one outwards. */
function gridLine(degrees: number, outwards: 1 | -1): number {
  const near = Math.round(degrees * perDegree);
  const isInside = (near / perDegree - degrees) * outwards < 0;
  return (isInside ? near + outwards : near) / perDegree;
}
