import { type Grade, grades } from "#src/domain/vocabulary.ts";
import { cleanText } from "#src/import/clean-text.ts";
import type { Tags } from "#src/import/osm-object.ts";

/** Most characters of a value in OSM. */
export const hoursMax = 255;

/** Tags of OSM that name one of our grades. */
const tagsOf: Record<Grade, readonly string[]> = {
  92: ["fuel:octane_92"],
  // E5 and E10 say how much ethanol is in a petrol, which is one of 95 where the pumps are marked so.
  95: ["fuel:octane_95", "fuel:e5", "fuel:e10"],
  98: ["fuel:octane_98"],
  100: ["fuel:octane_100"],
  ДТ: ["fuel:diesel", "fuel:GTL_diesel", "fuel:HGV_diesel"],
};
/** They say that there is petrol, and not which. */
const somePetrol = ["fuel:octane", "fuel:petrol", "fuel:gasoline"];

/**
 * The grades that a station sells by its tags; null when they do not say it. One grade alone is a mapper's beginning, not
 * a list: the others count as unknown then, and so do they beside petrol that nobody has named (decisions 14.19).
 */
export function gradesFrom(tags: Tags): readonly Grade[] | null {
  const values = (key: string): string[] =>
    cleanText(tags[key], hoursMax)
      .split(";")
      .map((value) => value.trim());
  const has = (keys: readonly string[], value: string): boolean =>
    keys.some((key) => values(key).includes(value));
  const sold = grades.filter((grade) => has(tagsOf[grade], "yes"));
  const named = grades.filter((grade) => sold.includes(grade) || has(tagsOf[grade], "no"));
  const isOpenEnded = has(somePetrol, "yes") && sold.every((grade) => grade === "ДТ");
  return sold.length === 0 || named.length < 2 || isOpenEnded ? null : shared(sold);
}

const lists = new Map<string, readonly Grade[]>();

/** One list for all stations that sell the same. */
function shared(sold: readonly Grade[]): readonly Grade[] {
  const key = sold.join();
  const known = lists.get(key) ?? sold;
  lists.set(key, known);
  return known;
}

/** Opening hours as one line; "" for a longer text, which cut off would say something else. */
export function hoursText(value: unknown): string {
  const text = cleanText(value, hoursMax + 1);
  return [...text].length > hoursMax ? "" : text;
}
