import { type Grade, grades } from "#src/domain/vocabulary.ts";
import type { ReadProgress } from "#src/import/read-text.ts";
import type { ImportedStation } from "#src/import/osm-station.ts";
import type { Source, SourceFuels } from "#src/import/source.ts";
import { entriesAt, matches, numberFrom, textFrom, valueAt } from "#src/import/source-values.ts";
import { type FoundFiles, recordsIn } from "#src/import/source-files.ts";

/** Our grade for a fuel of the source; "none" for one that we do not have, undefined for a name that nobody knows. */
export type GradeOf = (fuel: string) => Grade | "none" | undefined;

/** What is known of a station's fuels: our grades that it sells, and whether it sells others, or unknown ones. */
export interface Fuels {
  sold: Set<Grade>;
  others: boolean;
  unknown: boolean;
}

/** Looks fuels up in a description: names first, then patterns in their order. Counts unknown names in `unknown`. */
export function createGradeOf(
  { grades: named = {} }: Source,
  unknown: Map<string, number>,
): GradeOf {
  const entries = Object.entries(named).sort(
    ([a], [b]) => Number(a.includes("*")) - Number(b.includes("*")),
  );
  const known = new Map<string, Grade | "none" | undefined>();
  return (fuel) => {
    if (!known.has(fuel)) known.set(fuel, entries.find(([pattern]) => matches(pattern, fuel))?.[1]);
    const grade = known.get(fuel);
    if (grade === undefined) unknown.set(fuel, (unknown.get(fuel) ?? 0) + 1);
    return grade;
  };
}

export const noFuels = (): Fuels => ({ sold: new Set(), others: false, unknown: false });

/** Adds a fuel that a station sells. */
export function addFuel(to: Fuels, grade: Grade | "none" | undefined): void {
  if (grade === undefined) to.unknown = true;
  else if (grade === "none") to.others = true;
  else to.sold.add(grade);
}

/** Adds the fuels that a record names by itself: in columns, in a list, or as one fuel of a station. */
export function addFuelsOf(record: unknown, fuels: SourceFuels, gradeOf: GradeOf, to: Fuels): void {
  for (const fuel of fuelNames(record, fuels)) addFuel(to, gradeOf(fuel));
}

/** The source's names of the fuels that a record has, with a price if it states prices. */
export function fuelNames(record: unknown, fuels: SourceFuels): Set<string> {
  const { columns, list, rows, each, fuel, price } = fuels;
  if (columns !== undefined)
    return new Set(columns.filter((column) => isPriced(record, { from: column, decimal: "," })));
  if (list !== undefined) return new Set(namesIn(valueAt(record, list)));
  const entries = rows !== undefined ? entriesAt(record, rows) : each ? [record] : [];
  const priced = entries.filter((entry) => price === undefined || isPriced(entry, price));
  return new Set(priced.map((entry) => textFrom(entry, fuel!)).filter((name) => name !== ""));
}

/** The fuels of all stations in a second file, by the stations' ids there. Null without such a file. */
export async function readFuelFile(
  source: Source,
  files: FoundFiles,
  gradeOf: GradeOf,
  progress: ReadProgress,
): Promise<Map<string, Fuels> | null> {
  const { fuels } = source;
  if (fuels?.file === undefined || !files.has(fuels.file)) return null;
  const byStation = new Map<string, Fuels>();
  const one = { ...fuels, each: true } as const;
  for await (const some of recordsIn(source, fuels.file, files, progress))
    for (const { value, refused } of some) {
      const id = refused === undefined ? textFrom(value, fuels.station!) : "";
      if (id === "") continue;
      const of = byStation.get(id) ?? noFuels();
      addFuelsOf(value, one, gradeOf, of);
      byStation.set(id, of);
    }
  return byStation;
}

/**
 * A station's grades and kind by its fuels. Without any fuel nothing is said; with a fuel of an unknown name, or in a
 * file of changes, only that it sells what is there.
 */
export function salesOf(
  { sold, others, unknown }: Fuels,
  absent: SourceFuels["absent"],
): Pick<ImportedStation, "sells" | "grades_sold"> {
  const isAll = absent !== "unknown" && !unknown && (sold.size > 0 || others);
  return {
    sells: sold.size > 0 ? "petrol" : others && !unknown && absent !== "unknown" ? "gas" : "unsaid",
    grades_sold: isAll ? grades.filter((grade) => sold.has(grade)) : null,
  };
}

const isPriced = (record: unknown, price: NonNullable<SourceFuels["price"]>): boolean =>
  (numberFrom(record, price) ?? 0) > 0;

const namesIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value.map(String) : typeof value === "string" ? value.split(/[,;|]/) : [])
    .map((name) => name.trim())
    .filter((name) => name !== "");
