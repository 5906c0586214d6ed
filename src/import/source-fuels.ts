import { type Grade, grades } from "#src/domain/vocabulary.ts";
import type { ReadProgress } from "#src/import/read-text.ts";
import type { ImportedStation } from "#src/import/osm-station.ts";
import { isSold } from "#src/import/number-text.ts";
import type { RefusedRows } from "#src/import/refusals.ts";
import type { Source, SourceFuels, Value } from "#src/import/source.ts";
import { matches, namesAt, pathOf, rowsOf, textFrom } from "#src/import/source-values.ts";
import { type FoundFiles, recordsIn } from "#src/import/source-files.ts";

/** Our grade for a fuel of the source; "none" for one that we do not have, undefined for a name that nobody knows. */
export type GradeOf = (fuel: string) => Grade | "none" | undefined;

/** What is known of a station's fuels: our grades that it sells, and whether it sells others. */
export interface Fuels {
  sold: Set<Grade>;
  others: boolean;
  /** Our grades of which something unclear is said; undefined for a name that nobody knows. */
  unclear: Set<Grade | undefined>;
  /** In a second file, their rows and the first one's place. */
  rows: number;
  place: string;
}

/** Is told of a value that is unclear. */
export type Note = (reason: string, field: string, value: string) => void;

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

export const noFuels = (): Fuels => ({
  ...{ sold: new Set(), others: false, unclear: new Set() },
  ...{ rows: 0, place: "" },
});

/** Adds a fuel that a station sells, or of which something unclear is said. */
export function addFuel(to: Fuels, grade: Grade | "none" | undefined, isClear = true): void {
  if (grade === "none") to.others ||= isClear;
  else if (grade === undefined || !isClear) to.unclear.add(grade);
  else to.sold.add(grade);
}

/**
 * The source's names of the fuels that a record names by itself: in columns, in a list, or as one fuel of a station; with
 * true if it is sold, or null if its price is unclear, of which `note` is told.
 */
export function fuelsIn(
  record: unknown,
  { columns, list, rows, each, fuel, price }: SourceFuels,
  note?: Note,
): Map<string, true | null> {
  if (list !== undefined) return new Map(namesAt(record, list).map((name) => [name, true]));
  const found = new Map<string, true | null>();
  const add = (name: string, of: unknown, from: Value | undefined): void => {
    // A price of a fuel without a name: it is sold, and nobody knows which.
    const sold = from === undefined ? name !== "" : isSold(textFrom(of, from));
    if (sold !== false) found.set(name, found.get(name) ?? sold);
    if (sold === null) note?.("unclear-price", pathOf(from!), textFrom(of, from!));
  };
  for (const column of columns ?? []) add(column, record, column);
  if (columns === undefined && (rows !== undefined || each))
    for (const row of rowsOf(record, rows, pathOf(fuel!))) add(textFrom(row, fuel!), row, price);
  return found;
}

/** The fuels of all stations in a second file, by the stations' ids there. Null without such a file. */
export async function readFuelFile(
  source: Source,
  files: FoundFiles,
  gradeOf: GradeOf,
  { progress, rows }: { progress: ReadProgress; rows?: RefusedRows | undefined },
): Promise<Map<string, Fuels> | null> {
  const { fuels } = source;
  if (fuels?.file === undefined || !files.has(fuels.file)) return null;
  const byStation = new Map<string, Fuels>();
  const one = { ...fuels, each: true } as const;
  for await (const some of recordsIn(source, fuels.file, files, progress))
    for (const { place, value, refused } of some) {
      const id = refused === undefined ? textFrom(value, fuels.station!) : "";
      const of = byStation.get(id) ?? { ...noFuels(), place };
      byStation.set(id, of);
      of.rows += 1;
      if (id === "") continue;
      const found = fuelsIn(value, one, (reason, field, text) =>
        rows?.add({ place, id, field, value: text, reason }, 1),
      );
      for (const [name, sold] of found) addFuel(of, gradeOf(name), sold ?? false);
    }
  return byStation;
}

/**
 * A station's grades and kind by its fuels. Without any fuel nothing is said; with an unclear one, or in a file of
 * changes, only that it sells what is there.
 */
export function salesOf(
  { sold, others, unclear }: Fuels,
  absent: SourceFuels["absent"],
): Pick<ImportedStation, "sells" | "grades_sold"> {
  const isClear = [...unclear].every((grade) => grade !== undefined && sold.has(grade));
  const isAll = absent !== "unknown" && isClear && (sold.size > 0 || others);
  return {
    sells: sold.size > 0 ? "petrol" : others && isClear && absent !== "unknown" ? "gas" : "unsaid",
    grades_sold: isAll ? grades.filter((grade) => sold.has(grade)) : null,
  };
}
