import { setImmediate as breathe } from "node:timers/promises";
import { type Counts, countStation, noCounts } from "#src/domain/insights.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { Point } from "#src/domain/geo.ts";

const atOnce = 1000;

/** The stations of each city as they are served at `now` (ms), by city id. Lets others work in between. */
export async function countNow(
  model: Pick<ReadModel, "each">,
  cityOf: (place: Point) => string,
  now: number,
): Promise<Record<string, Counts>> {
  const cities: Record<string, Counts> = {};
  let counted = 0;
  for (const { fuel, ...place } of model.each(now)) {
    countStation((cities[cityOf(place)] ??= noCounts()), fuel);
    if (++counted % atOnce === 0) await breathe();
  }
  return cities;
}
