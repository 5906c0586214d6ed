import { grades, servedStatuses } from "#src/domain/vocabulary.ts";
import { type DumpSet, longestPage } from "#snapshots/dumps/dump.ts";
import { type Filters, filtersKey } from "#snapshots/model/filters.ts";

/** The length of a page of /stations/all without `limit` (docs/contract.md 4.2). */
export const usualPage = 10_000;

/** A set of filters for each status and for each grade: most partners ask for these, so they are always kept ready. */
const fixedFilters: readonly Filters[] = [
  ...servedStatuses.map((status) => ({ statuses: [status] })),
  ...grades.map((grade) => ({ grades: [grade] })),
];

const fixedKeys = new Set(fixedFilters.map(filtersKey));

/** True when dumps of these filters are always kept (`fixedSets`). */
export const isFixed = (filters: Filters): boolean => fixedKeys.has(filtersKey(filters));

/** The sets that are always kept. The longest page of a list is also each shorter one that holds all of it. */
export function fixedSets(countOf: (filters: Filters) => number): DumpSet[] {
  return fixedFilters.flatMap((filters) => [
    { filters, limit: longestPage },
    ...(countOf(filters) > usualPage ? [{ filters, limit: usualPage }] : []),
  ]);
}
