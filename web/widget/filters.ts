import type { FuelBlock } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import type { Grade, Queue, ServedStatus } from "#src/domain/vocabulary.ts";
import { hourMs } from "#src/domain/units.ts";

/** The viewer's filters, the same as the API's (docs/contract.md 4.1); an empty one lets all pass. */
export interface Filters {
  /** All of them must be there now. */
  grades: readonly Grade[];
  statuses: readonly ServedStatus[];
  /** Brands as stations have them; the API has no such filter. */
  brands: readonly string[];
  queues: readonly Queue[];
  priced: boolean;
  /** Status no older than this many hours; leaves out `nodata`. */
  freshH: number | null;
}

export const noFilters: Filters = {
  grades: [],
  statuses: [],
  brands: [],
  queues: [],
  priced: false,
  freshH: null,
};

/** True when a station with this status block passes, as the API would say at the same moment. */
export function passes(fuel: FuelBlock, filters: Filters, now: number): boolean {
  const { grades, statuses, queues, priced, freshH } = filters;
  const there = fuel.fuels_now.split(",");
  return (
    grades.every((grade) => there.includes(grade)) &&
    (statuses.length === 0 || statuses.includes(fuel.status)) &&
    (queues.length === 0 || (fuel.queue !== "" && queues.includes(fuel.queue))) &&
    (!priced || (fuel.prices ?? "") !== "") &&
    (freshH === null || isFresh(fuel, now - freshH * hourMs))
  );
}

/** True when the station's brand is one of those that the viewer wants. */
export const passesBrand = (brand: string, { brands }: Filters): boolean =>
  brands.length === 0 || brands.includes(brand);

/** The brands of these stations and how many stations each has, the largest first; without those that have none. */
export function brandsOf(stations: readonly { brand: string }[]): [brand: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { brand } of stations)
    if (brand !== "") counts.set(brand, (counts.get(brand) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
}

/** The number of filter groups in use. */
export const filtersOn = ({ grades, statuses, brands, queues, priced, freshH }: Filters): number =>
  [
    brands.length > 0,
    grades.length > 0,
    statuses.length > 0,
    queues.length > 0,
    priced,
    freshH !== null,
  ].filter((one) => one).length;

const isFresh = ({ status, updated }: FuelBlock, from: number): boolean =>
  status !== "nodata" && (parseTime(updated) ?? 0) >= from;

/**
 * The block as it is at `now`: a status that has expired since it was read becomes `nodata` (decisions 6), even while
 * the service cannot be asked.
 */
export function expire(fuel: FuelBlock, now: number, lifetimeH: number): FuelBlock {
  const updated = parseTime(fuel.updated);
  if (fuel.status === "nodata" || updated === null || updated + lifetimeH * hourMs > now)
    return fuel;
  const { prices: _prices, chance: _chance, ...rest } = fuel;
  return {
    ...rest,
    status: "nodata",
    fuels_now: "",
    fuels_no: "",
    queue: "",
    limit_l: null,
    no_cash: false,
    fuel_cards_only: false,
    confirmations: 0,
    real_count: 0,
    seeded: false,
    resolution_reason: fuel.pending_status === "" ? "no_data" : "unconfirmed",
    conflict: null,
  };
}
