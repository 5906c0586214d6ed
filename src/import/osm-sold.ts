import { type Grade, grades } from "#src/domain/vocabulary.ts";
import { cleanText } from "#src/import/clean-text.ts";
import type { Tags } from "#src/import/osm-object.ts";
import { remembered } from "#src/infrastructure/lists.ts";

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

const petrol = /^fuel:(octane(_\d+)?|(\w+_)?diesel|petrol|gasoline|e5|e10|e85|1_25|1_50)$/;
const gas = /^fuel:(lpg|cng|lng|propane|methane|biogas|h2)$/;

/** What a station sells by its tags: petrol or diesel, only gas, or unknown; and its grades, null if they do not say it. */
interface Sold {
  sells: "petrol" | "gas" | "unsaid";
  grades_sold: readonly Grade[] | null;
}

export function soldFrom(tags: Tags): Sold {
  const fuels: unknown[] = [];
  for (const key in tags) if (key.startsWith("fuel:")) fuels.push([key, tags[key]]);
  return soldBy(JSON.stringify(fuels));
}

/** By the tags as JSON, of which a country has few. */
const soldBy = remembered((json): Sold => {
  const values = new Map(
    (JSON.parse(json) as [string, unknown][]).map(([key, value]) => [
      key,
      cleanText(value, hoursMax)
        .split(";")
        .map((one) => one.trim()),
    ]),
  );
  const has = (keys: readonly string[], value: string): boolean =>
    keys.some((key) => values.get(key)?.includes(value));
  // Mappers leave "no;yes" after joining two objects, one of which sells it.
  const sold = [...values.keys()].filter((key) => has([key], "yes"));
  const isSold = (kind: RegExp): boolean => sold.some((key) => kind.test(key));
  return {
    sells: isSold(petrol) ? "petrol" : isSold(gas) ? "gas" : "unsaid",
    grades_sold: gradesFrom(has),
  };
});

/**
 * The grades; null where the tags are no list. One grade alone is a mapper's beginning: the others count as unknown then,
 * and so do they beside petrol that nobody has named (decisions 14.19).
 */
function gradesFrom(has: (keys: readonly string[], value: string) => boolean): Sold["grades_sold"] {
  const sold = grades.filter((grade) => has(tagsOf[grade], "yes"));
  const named = grades.filter((grade) => sold.includes(grade) || has(tagsOf[grade], "no"));
  const isOpenEnded = has(somePetrol, "yes") && sold.every((grade) => grade === "ДТ");
  return sold.length === 0 || named.length < 2 || isOpenEnded ? null : sold;
}

/** Opening hours as one line, without seconds; "" for a longer text, which cut off would say something else. */
export const hoursText = (value: unknown): string =>
  typeof value !== "string" ? "" : hoursOf(cleanText(value.replace(seconds, "$1"), hoursMax + 1));

const seconds = /\b(\d\d:\d\d):\d\d\b/g;

const hoursOf = remembered((text) => ([...text].length > hoursMax ? "" : text));
