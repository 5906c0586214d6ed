import type { Config } from "#src/infrastructure/config.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";

/** The product's rules with a few of an operator's numbers changed. */
export interface Variant {
  name: string;
  settings: Partial<Config>;
  /** Stations that a partner in its launch may change in an hour (`operator partner launch ID --limit`). */
  launchLimit?: number;
}

export const asItIs: Variant = { name: "as it is", settings: {} };

/** Each goes towards a goal that is not reached, far enough that what it costs can be seen. */
export const variants: readonly Variant[] = [
  {
    name: "a `no` waits longer, newcomers' `no` counts for longer",
    settings: { nearbyFreshMs: 2 * hourMs, newcomerNoMs: 3 * hourMs },
  },
  {
    name: "nearly every `no` needs two",
    settings: { nearbyFreshMs: dayMs, nearbyNoM: 5000 },
  },
  { name: "every mark needs two", settings: { nearM: 0, accuracyCapM: 0 } },
  {
    name: "a quarter of the limits",
    settings: { massNoLimit: 5, networkHarmLimit: 5, cityHarmMin: 5, cityHarmPercent: 3 },
    launchLimit: 20,
  },
  { name: "caution against newcomers' fuel for a day", settings: { cautionFreshMs: dayMs } },
  {
    name: "new for a week, established after a month",
    settings: { newcomerMs: 7 * dayMs, establishedMs: 30 * dayMs },
  },
];
