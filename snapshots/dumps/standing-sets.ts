import { grades, servedStatuses } from "#src/domain/vocabulary.ts";
import type { DumpSet } from "#snapshots/dumps/dump.ts";
import { type Filters, filtersKey } from "#snapshots/model/filters.ts";

/** The page lengths of /stations/all that are kept: without `limit`, and all in one page (docs/contract.md 4.2). */
export const usualPage = 10_000;
export const longestPage = 30_000;

/** A set of filters for each status and for each grade: most partners ask for these, so they are always kept ready. */
const standingFilters: readonly Filters[] = [
  ...servedStatuses.map((status) => ({ statuses: [status] })),
  ...grades.map((grade) => ({ grades: [grade] })),
];

const standingKeys = new Set(standingFilters.map(filtersKey));

/** True when dumps of these filters are always kept (`standingSets`). */
export const isStanding = (filters: Filters): boolean => standingKeys.has(filtersKey(filters));

/** The sets that are always kept. The longest page of a list is also each shorter one that holds all of it. */
export function standingSets(countOf: (filters: Filters) => number): DumpSet[] {
  return standingFilters.flatMap((filters) => [
    { filters, limit: longestPage },
    ...(countOf(filters) > usualPage ? [{ filters, limit: usualPage }] : []),
  ]);
}
