import {
  type Grade,
  grades,
  queues,
  type Queue,
  type ServedStatus,
  statuses,
} from "#src/domain/vocabulary.ts";
import { type Filters, filtersOn, noFilters } from "#web/widget/filters.ts";

const names = ["only", "status", "brand", "queue", "price", "fresh"] as const;
const brandMax = 100;
const brandsMax = 20;
const freshMaxH = 24;

/** The filters that an address or the device's memory says; null when it says none. Unknown values are left out. */
export function readFilters(text: string): Filters | null {
  const given = new URLSearchParams(text);
  if (!names.some((name) => given.has(name))) return null;
  const list = (name: string): string[] => (given.get(name) ?? "").split(",");
  const known = <T extends string>(name: string, words: readonly T[]): T[] =>
    words.filter((word) => list(name).includes(word));
  const fresh = Number(given.get("fresh") ?? "");
  return {
    grades: known<Grade>("only", grades),
    statuses: known<ServedStatus>("status", [...statuses, "nodata"]),
    // A brand may have a comma.
    brands: given
      .getAll("brand")
      .filter((brand) => brand !== "" && brand.length <= brandMax)
      .slice(0, brandsMax),
    queues: known<Queue>("queue", queues),
    priced: given.get("price") === "1",
    freshH: Number.isInteger(fresh) && fresh > 0 && fresh <= freshMaxH ? fresh : null,
  };
}

/** Writes the filters into the parameters of an address, in place of those that are there. */
export function writeFilters(into: URLSearchParams, filters: Filters): void {
  for (const name of names) into.delete(name);
  const set = (name: (typeof names)[number], values: readonly string[]): void => {
    if (values.length > 0) into.set(name, values.join(","));
  };
  set("only", filters.grades);
  set("status", filters.statuses);
  for (const brand of filters.brands) into.append("brand", brand);
  set("queue", filters.queues);
  if (filters.priced) into.set("price", "1");
  if (filters.freshH !== null) into.set("fresh", String(filters.freshH));
}

/** The filters as one text for the device's memory; null for none. */
export function filtersText(filters: Filters): string | null {
  if (filtersOn(filters) === 0) return null;
  const text = new URLSearchParams();
  writeFilters(text, filters);
  return text.toString();
}

/** The filters that the map begins with: those of the address, else those of the device. */
export const keptFilters = (address: string, device: string | null): Filters =>
  readFilters(address) ?? readFilters(device ?? "") ?? noFilters;
