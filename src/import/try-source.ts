import { type Grade, grades, gradesText } from "#src/domain/vocabulary.ts";
import { knownBrands } from "#src/import/brand-names.ts";
import type { Reasons } from "#src/import/file-import.ts";
import { isRecord } from "#src/import/json-items.ts";
import { type ImportedStation, shownNames } from "#src/import/osm-station.ts";
import { createRefusedRows, type RefusedRow } from "#src/import/refusals.ts";
import { pathsOf, type Source, storedAs } from "#src/import/source.ts";
import { findFiles, type FoundFiles, recordsIn } from "#src/import/source-files.ts";
import { readSourceStations } from "#src/import/source-stations.ts";
import { hoursFault, readableHours } from "#src/stations/opening-hours.ts";
import { isNearCountry } from "#src/stations/territories.ts";

/** What the files of a source give, without a database. */
export interface Tried {
  source: string;
  read: number;
  stations: number;
  refused: number;
  reasons: Reasons;
  /** Stations that have each field. */
  coverage: Record<string, number>;
  /** Stations that sell each grade. */
  grades: Partial<Record<Grade, number>>;
  /** Stations whose brand no list knows. */
  brands_unknown: number;
  unknown_fuels: Record<string, number>;
  /** Columns or keys that the description does not use. */
  unused: string[];
  /** The first stations as they would be stored. */
  first: Record<string, string | number>[];
  refused_rows: readonly RefusedRow[];
  verdict: string;
}

const firstShown = 5;
const recordsLookedAt = 1000;
const known = knownBrands(new Map());

/** Reads the files of a source to their end, and sums up what comes of them. Throws wrong-file faults. */
export async function trySource(source: Source, paths: readonly string[]): Promise<Tried> {
  const files = await findFiles(source, paths);
  const rows = await createRefusedRows(storedAs(source));
  const options = { label: storedAs(source), now: Date.now(), progress: () => undefined, rows };
  const { read, found, refused, reasons, unknownFuels } = await readSourceStations(
    source,
    files,
    options,
  );
  const stations = found.filter(({ sells }) => sells !== "gas");
  const { country } = source;
  const abroad =
    country === undefined ? 0 : stations.filter((one) => !isNearCountry(one, country)).length;
  const none = found.length - stations.length;
  const hours = stations.map(({ opening_hours: text }) => text).filter(Boolean);
  const unread = hours.filter((text) => hoursFault(text) !== null);
  const of = (has: (station: ImportedStation) => boolean): number => stations.filter(has).length;
  const selling = grades.map((grade) => [
    grade,
    of((one) => one.grades_sold?.includes(grade) === true),
  ]);
  const tried = {
    ...{ source: source.name, read, stations: stations.length, refused: refused + none },
    reasons: { ...reasons, ...(none > 0 ? { "lpg-only": none } : {}) },
    coverage: {
      name: of(({ name }) => name !== ""),
      brand: of(({ brand }) => brand !== ""),
      street: of(({ street }) => street),
      city: of(({ city }) => city !== ""),
      opening_hours: hours.length - unread.length,
      grades_sold: of(({ grades_sold: sold }) => sold !== null),
    },
    grades: Object.fromEntries(selling.filter(([, count]) => count !== 0)) as Tried["grades"],
    brands_unknown: of((one) => one.brand !== "" && known(one.brand, one) === undefined),
    unknown_fuels: Object.fromEntries(unknownFuels),
    unused: source.as === "osm" ? [] : await unusedIn(source, files),
    first: stations.slice(0, firstShown).map(shown),
    refused_rows: rows.first,
  };
  const verdict = verdictOn(tried, abroad, country);
  const [text] = unread;
  if (text === undefined) return { ...tried, verdict };
  const most = `the opening hours of ${unread.length} of ${hours.length} stations cannot be read and would be left out`;
  return {
    ...tried,
    verdict: `${verdict} But ${most}, the first: "${text}" (${hoursFault(text)}).`,
  };
}

const shown = (station: ImportedStation): Record<string, string | number> => {
  const { id, lat, lon, addr, grades_sold: sold } = station;
  const opening_hours = readableHours(station.opening_hours);
  const names = shownNames(station, new Map(), known);
  return { id, lat, lon, ...names, addr, grades_sold: gradesText(sold ?? []), opening_hours };
};

/** Names in the first records of all files that no path of the description names. */
async function unusedIn(source: Source, files: FoundFiles): Promise<string[]> {
  const used = pathsOf(source);
  const unused = new Set<string>();
  for (const name of files.keys()) {
    let looked = 0;
    for await (const some of recordsIn(source, name, files, () => undefined)) {
      for (const one of some.slice(0, recordsLookedAt).flatMap(({ value }) => namesIn(value)))
        if (!used.some((path) => path === one || path.startsWith(`${one}.`))) unused.add(one);
      if ((looked += some.length) >= recordsLookedAt) break;
    }
  }
  return [...unused];
}

const namesIn = (value: Record<string, unknown>): string[] =>
  Object.entries(value).flatMap(([key, inner]) =>
    isRecord(inner) ? Object.keys(inner).map((name) => `${key}.${name}`) : [key],
  );

function verdictOn(tried: Omit<Tried, "verdict">, abroad: number, country = ""): string {
  const { stations, refused, unknown_fuels: fuels, coverage } = tried;
  const doubts = [
    ...(refused * 10 > stations
      ? [`${refused} records would be left out: look at their reasons`]
      : []),
    ...(abroad > 0
      ? [
          `${abroad} stations are not in ${country}${abroad * 2 > stations ? ": are latitude and longitude swapped, or is it another country?" : " and would be left out"}`,
        ]
      : []),
    ...(Object.keys(fuels).length > 0 ? ["add the unknown fuels to `grades`"] : []),
    ...(coverage["name"] === 0 && coverage["brand"] === 0
      ? ["no station has a name or a brand"]
      : []),
  ];
  return doubts.length > 0
    ? `Doubtful: ${doubts.join("; ")}.`.replace("?.", "?")
    : "Good: it can be imported.";
}
