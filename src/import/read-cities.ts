import type { RefusedRows } from "#src/import/refusals.ts";
import { cleanText } from "#src/import/clean-text.ts";
import { csvLines, type Numbered } from "#src/import/csv-lines.ts";
import { csvTable, type TableRow } from "#src/import/csv-table.ts";
import { collect, type Collected, type Refused } from "#src/import/file-import.ts";
import { advice, wrongFile, type ReadProgress } from "#src/import/read-text.ts";
import { readText } from "#src/import/text-file.ts";

export const cityFormats = ["hflabs", "geonames"] as const;
export type CityFormat = (typeof cityFormats)[number];

export interface StoredCity {
  /** `<format>-<their id>`. */
  id: string;
  name: string;
  region: string;
  lat: number;
  lon: number;
  population: number;
}

/**
 * The cities in a text table. Throws a wrong-file fault for a table that is broken, cut off, of another kind or without
 * a single city. Cities of the same name are different cities; only a repeated id is refused.
 */
export function readCities(
  path: string,
  format: CityFormat,
  progress: ReadProgress,
  rows?: RefusedRows,
): Promise<Collected<StoredCity>> {
  const naming = { rows, placeOf: ({ line }: { line: number }) => `line ${line}` };
  if (format === "hflabs")
    return collect(csvTable(path, undefined, progress, hflabsColumns), "city", fromHflabs, naming);
  const lines = csvLines(path, { delimiter: "\t", quote: false }, progress);
  return collect(lines, "city", fromGeonames, naming);
}

export async function guessCityFormat(path: string): Promise<CityFormat> {
  for await (const head of readText(path, () => undefined)) {
    const line = head.split("\n", 1)[0] ?? "";
    if (line.includes("fias_id") && line.includes("geo_lat")) return "hflabs";
    if (line.split("\t").length === 19) return "geonames";
    break;
  }
  throw wrongFile("this is neither hflabs nor GeoNames", advice.kind);
}

type CityFrom = StoredCity | Refused;

const hflabsColumns = [
  ...(["region_type", "region", "area_type", "area", "city_type", "city"] as const),
  ...(["settlement_type", "settlement", "fias_id", "geo_lat", "geo_lon"] as const),
  ...(["population", "foundation_year"] as const),
] as const;
type Hflabs = Record<(typeof hflabsColumns)[number], string>;

/** A line of the CSV of hflabs/city: Russian cities by FIAS id. */
function fromHflabs({ line: number, value: fields }: TableRow): CityFrom {
  const line = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, cleanText(value, 120)]),
  ) as Hflabs;
  if (!/^[0-9a-f-]{36}$/i.test(line.fias_id))
    throw wrongFile(`its fias_id "${line.fias_id}" is none`, advice.kind, number);
  // A shortened year in the last column shows that the file is cut off.
  if (/^\d{1,2}$/.test(line.foundation_year)) throw wrongFile("it is cut off", advice.cut, number);
  const name = hflabsName(line);
  const id = `hflabs-${line.fias_id.toLowerCase()}`;
  if (name === "") return { refused: "no-name", about: { id, field: "city" } };
  const numbers = numbersFrom(id, line.geo_lat, line.geo_lon, line.population);
  if ("refused" in numbers) return numbers;
  return { id, name, region: hflabsRegion(line.region_type, line.region), ...numbers };
}

/**
 * The name of a town. One inside another town has it in `settlement`; some are districts of type "г", and the federal
 * cities are regions.
 */
function hflabsName(line: Hflabs): string {
  if (line.settlement !== "") return line.settlement;
  if (line.city !== "") return line.city;
  if (line.area_type === "г" && line.area !== "") return line.area;
  return line.region_type === "г" ? line.region : "";
}

const regionWords: Readonly<Record<string, string>> = {
  обл: "область",
  край: "край",
  АО: "автономный округ",
  Аобл: "автономная область",
};

/** "обл", "Московская" → "Московская область", as people write it. */
function hflabsRegion(type: string, region: string): string {
  const name = region
    .replace(/\s*\/(.+?)\/\s*/, " ($1)")
    .replace(/\s+-\s+/g, " — ")
    .trim();
  if (/область|округ|республика|край/i.test(name)) return name;
  if (type === "Респ") return name.endsWith("ская") ? `${name} Республика` : `Республика ${name}`;
  const word = regionWords[type];
  return word === undefined ? name : `${name} ${word}`;
}

// Codes of parts of cities, and of abandoned places.
const noCities = new Set(["PPLX", "PPLH", "PPLQ", "PPLW", "PPLCH"]);

/** A line of a GeoNames dump (cities15000.txt, RU.txt): 19 columns between tabs, no heading, no quoting. */
function fromGeonames({ line: number, fields: line }: Numbered<readonly string[]>): CityFrom {
  const [id = "", name = "", , , lat = "", lon = "", featureClass = "", featureCode = ""] = line;
  const [field, ours] = ["feature code", `geonames-${id}`];
  if (line.length !== 19 || !/^\d{1,12}$/.test(id))
    throw wrongFile("it does not have the 19 columns of GeoNames", advice.kind, number);
  // A shortened date in the last column shows that the file is cut off.
  if (!/^\d{4}-\d{2}-\d{2}$/.test(line[18] ?? ""))
    throw wrongFile("it is cut off", advice.cut, number);
  if (featureClass !== "P")
    return { refused: "not-a-city", about: { id: ours, field, value: featureClass } };
  if (noCities.has(featureCode))
    return { refused: "not-a-city-of-today", about: { id: ours, field, value: featureCode } };
  const shown = cleanText(name, 120);
  if (shown === "") return { refused: "no-name", about: { id: ours, field: "name", value: name } };
  const numbers = numbersFrom(ours, lat, lon, line[14] ?? "");
  if ("refused" in numbers) return numbers;
  return { id: ours, name: shown, region: cleanText(line[10], 120), ...numbers };
}

/** Coordinates and population as numbers, or the reason why a line cannot be a city. */
function numbersFrom(
  id: string,
  latText: string,
  lonText: string,
  peopleText: string,
): { lat: number; lon: number; population: number } | Refused {
  const [lat, lon] = [Number(latText), Number(lonText)];
  const about = { id, field: "lat, lon", value: `${latText} ${lonText}`.trim() };
  if (latText.trim() === "" || lonText.trim() === "") return { refused: "no-position", about };
  if (!(Math.abs(lat) <= 90 && Math.abs(lon) <= 180) || (lat === 0 && lon === 0))
    return { refused: "bad-position", about };
  const people = peopleText.replace(/\s/g, "");
  // Cities of unknown population are shown too.
  const population = /^\d{1,9}$/.test(people) ? Number(people) : 0;
  return { lat, lon, population };
}
