import { csvLines } from "#src/import/csv-lines.ts";
import { wrongFile, type ReadProgress } from "#src/import/read-text.ts";
import { count, type Reasons } from "#src/import/summary.ts";

export const cityFormats = ["hflabs", "geonames"] as const;
export type CityFormat = (typeof cityFormats)[number];

export interface CityRow {
  /** `<format>-<their id>`. */
  id: string;
  name: string;
  region: string;
  lat: number;
  lon: number;
  population: number;
}

/** What a file's layout says about one line: a city, a reason to leave it out, or that the file is another. */
export type ReadCity = (
  line: readonly string[],
) => CityRow | { refused: string } | { wrong: string };

export interface CityLayout {
  delimiter: string;
  quote: boolean;
  /** Columns that the first line must name; null for files without a heading. */
  heading: readonly string[] | null;
  /** Makes the reader of a line, given the heading's columns. */
  reader: (heading: readonly string[]) => ReadCity;
}

export interface CitiesRead {
  read: number;
  cities: CityRow[];
  refused: number;
  reasons: Reasons;
}

/**
 * The cities in a text table. Throws a wrong-file fault for a broken, cut off or other table, and for one without a
 * single city. Homonyms are different cities; only the same id twice is refused.
 */
export async function readCities(
  path: string,
  layout: CityLayout,
  progress: ReadProgress,
): Promise<CitiesRead> {
  const result: CitiesRead = { read: 0, cities: [], refused: 0, reasons: {} };
  const ids = new Set<string>();
  let reader = layout.heading === null ? layout.reader([]) : null;
  for await (const line of csvLines(path, layout, progress)) {
    if (reader === null) {
      const missing = layout.heading?.filter((name) => !line.includes(name)) ?? [];
      if (missing.length > 0) throw wrongFile(`has no column ${missing.join(", ")}`);
      reader = layout.reader(line);
      continue;
    }
    result.read += 1;
    const found = reader(line);
    if ("wrong" in found) throw wrongFile(`line ${result.read}: ${found.wrong}`);
    const refused = "refused" in found ? found.refused : ids.has(found.id) ? "repeated-id" : null;
    if (refused !== null) {
      result.refused += 1;
      count(result.reasons, refused);
    } else if ("id" in found) {
      ids.add(found.id);
      result.cities.push(found);
    }
  }
  if (result.cities.length === 0) throw wrongFile("holds no city");
  return result;
}

/** Coordinates and population as numbers, or why a line cannot be a city. */
export function placed(
  latText: string,
  lonText: string,
  peopleText: string,
): { lat: number; lon: number; population: number } | { refused: string } {
  const [lat, lon] = [Number(latText), Number(lonText)];
  if (latText.trim() === "" || lonText.trim() === "") return { refused: "no-position" };
  if (!(Math.abs(lat) <= 90 && Math.abs(lon) <= 180) || (lat === 0 && lon === 0))
    return { refused: "bad-position" };
  const people = peopleText.replace(/\s/g, "");
  // An unknown number of people is no reason to leave a city off the map.
  const population = /^\d{1,9}$/.test(people) ? Number(people) : 0;
  return { lat, lon, population };
}
