import { dayMs } from "#src/domain/units.ts";
import { type Grade, grades, gradesText } from "#src/domain/vocabulary.ts";
import { brandSpellings, knownBrands, withoutTownBrands } from "#src/import/brand-names.ts";
import { type Reasons, refuse } from "#src/import/file-import.ts";
import { isRecord } from "#src/import/json-items.ts";
import { type ImportedStation, shownNames } from "#src/import/osm-station.ts";
import { type SourceSummary, stockFile } from "#src/import/import-source.ts";
import { inCountry } from "#src/import/import-stations.ts";
import { refuseUntimely } from "#src/import/import-statuses.ts";
import type { StatusesRead } from "#src/import/read-statuses.ts";
import { createRefusedRows, example } from "#src/import/refusals.ts";
import { joinSame } from "#src/import/same-station.ts";
import { pathsOf, type Source, storedAs } from "#src/import/source.ts";
import { findFiles, type FoundFiles, recordsIn } from "#src/import/source-files.ts";
import { readSourceStations } from "#src/import/source-stations.ts";
import { readSourceStock } from "#src/import/source-stock.ts";
import { hoursFault, readableHours } from "#src/stations/opening-hours.ts";

/** What the files of a source give, without a database. */
export interface Tried
  extends
    Pick<StatusesRead, "read" | "refused" | "reasons">,
    Pick<SourceSummary, "source" | "unknown_fuels" | "noted" | "second_file" | "refused_rows"> {
  stations: number;
  /** Stations that have each field. */
  coverage: Record<string, number>;
  /** Stations that sell each grade. */
  grades: Partial<Record<Grade, number>>;
  /** Stations whose brand no list knows. */
  brands_unknown: number;
  /** What an import would take of the stock-outs; null without any. */
  stock: Pick<StatusesRead, "read" | "refused" | "reasons"> | null;
  /** Columns or keys that the description does not use. */
  unused: string[];
  /** The first stations as they would be stored. */
  first: Record<string, string | number>[];
  verdict: string;
}

const firstShown = 5;
const recordsLookedAt = 1000;

/** Reads the files of a source to their end, and sums up what comes of them. Throws wrong-file faults. */
export async function trySource(source: Source, paths: readonly string[]): Promise<Tried> {
  const files = await findFiles(source, paths);
  const rows = await createRefusedRows();
  const options = { label: storedAs(source), now: Date.now(), progress: () => undefined, rows };
  const result = await readSourceStations(source, files, options);
  const { country, fields = {}, fuels } = source;
  const found = withoutTownBrands(inCountry(result, country), []);
  const { read, refused, reasons, ids } = result;
  const stored = { inService: new Set(""), parts: new Set(""), closed: new Set("") };
  const all = joinSame(found, stored, rows).groups.map(({ station }) => station);
  const stations = all.filter(({ sells }) => sells !== "gas");
  const stock = files.has(stockFile(source) ?? "")
    ? await readSourceStock(source, files, options)
    : null;
  if (stock !== null) refuseUntimely(stock, options.now, dayMs);
  for (const { own, lines, place } of stock?.statuses ?? [])
    if (!ids.has(own)) refuse(stock!, "unknown-station", lines, { place, id: own });
  const known = knownBrands(new Map(), country);
  const brands = brandSpellings([], found);
  const none = all.length - stations.length;
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
      closed_for_now: of(({ closed }) => closed !== undefined),
    },
    grades: Object.fromEntries(selling.filter(([, count]) => count !== 0)) as Tried["grades"],
    brands_unknown: of((one) => one.brand !== "" && known(one.brand, one) === undefined),
    unknown_fuels: Object.fromEntries(result.unknownFuels),
    ...{ noted: rows.noted, second_file: result.secondFile },
    stock: stock && { read: stock.read, refused: stock.refused, reasons: stock.reasons },
    unused: source.as === "osm" ? [] : await unusedIn(source, files),
    first: stations.slice(0, firstShown).map((one) => shown(one, brands, known)),
    refused_rows: rows.first,
  };
  const why = `the opening hours of ${unread.length} of ${hours.length} stations cannot be read and would be left out, the first: "${unread[0]}" (${hoursFault(unread[0] ?? "")})`;
  const lacks = Object.entries(tried.coverage).flatMap(([field, n]) =>
    n === 0 && field in fields ? field : [],
  );
  // The register alone can be imported (decisions 14.8).
  const isThere = fuels && files.has(fuels.file ?? source.files[0]!.name);
  if (isThere && stations.every(({ sells }) => sells === "unsaid")) lacks.push("grades");
  const most = lacks.includes("grades") ? 0 : Infinity;
  const lacking: Doubt = [lacks.length, `no station has its ${lacks.join(", ")}`, most];
  const doubts: Doubt[] = [[unread.length, why, hours.length], lacking];
  return { ...tried, verdict: verdictOn(tried, doubts, country) };
}

const shown = (...named: Parameters<typeof shownNames>): Tried["first"][number] => {
  const { id, lat, lon, addr, grades_sold: sold, closed = "", opening_hours: text } = named[0];
  const opening_hours = readableHours(text);
  const names = shownNames(...named);
  const facts = { addr, grades_sold: gradesText(sold ?? []), opening_hours };
  return { id, lat, lon, ...names, ...facts, closed: closed === "/" ? "yes" : closed };
};

/** Names in the first records of all files that no path of the description names. */
async function unusedIn(source: Source, files: FoundFiles): Promise<string[]> {
  const used = pathsOf(source);
  const unused = new Set<string>();
  for (const name of files.keys()) {
    let looked = 0;
    for await (const some of recordsIn(source, name, files, () => undefined)) {
      for (const one of some.slice(0, recordsLookedAt).flatMap(({ value }) => namesIn(value)))
        if (!used.some((path) => `${path}.`.startsWith(`${one}.`) || one.startsWith(`${path}.`)))
          unused.add(one);
      if ((looked += some.length) >= recordsLookedAt) break;
    }
  }
  return [...unused];
}

const namesIn = (value: Record<string, unknown>): string[] =>
  Object.entries(value).flatMap(([key, inner]) =>
    isRecord(inner) ? Object.keys(inner).map((name) => `${key}.${name}`) : [key],
  );

/** Reasons of stock-outs that tell of other fuels and times, and of no fault. */
const usual = ["other-fuel", "over", "not-sold-here", "too-old"];

type Doubt = [number, words: string, most?: number];

function verdictOn(tried: Omit<Tried, "verdict">, doubts: Doubt[], country = ""): string {
  const { stations, coverage, noted, stock, refused_rows: rows } = tried;
  const { merged = 0, ...unclear } = noted;
  const lost = Object.entries(stock?.reasons ?? {}).filter(([reason]) => !usual.includes(reason));
  const count = (of: Reasons): number => Object.values(of).reduce((sum, n) => sum + n, 0);
  const why = (of: Reasons): string =>
    Object.entries(of)
      .map(([reason, n]) => `${reason} ${n}${example(rows, reason)}`)
      .join("; ");
  const abroad = tried.reasons["other-country"] ?? 0;
  const unused = Object.fromEntries(lost);
  const isBare = coverage["name"] === 0 && coverage["brand"] === 0;
  // What most registers have some of, up to a tenth, is no doubt.
  const said: Doubt[] = [
    [
      abroad > stations ? abroad : 0,
      `${abroad} stations are not in ${country}: are latitude and longitude swapped, or is it another country?`,
    ],
    [tried.refused, `${tried.refused} records would be left out (${why(tried.reasons)})`, stations],
    [count(tried.unknown_fuels), "add the unknown fuels to `grades`"],
    [Number(isBare), "no station has a name or a brand"],
    [noted["unknown-station"] ?? 0, tried.second_file ?? ""],
    [count(unclear), why(unclear)],
    [count(unused), `${count(unused)} of ${stock?.read} stock-outs are lost (${why(unused)})`],
    [merged, why({ merged }), stations],
    ...doubts,
  ];
  const words = said.filter(([n]) => n > 0).map(([, one]) => one);
  const all = `${words.join("; ")}.`.replace("?.", "?");
  if (said.some(([n, , most = 0]) => n * 10 > most)) return `Doubtful: ${all}`;
  return `Good: it can be imported.${words.length > 0 ? ` Look at this: ${all}` : ""}`;
}
