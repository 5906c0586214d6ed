import { setImmediate as breathe } from "node:timers/promises";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { PricedStations } from "#snapshots/insights/price-medians.ts";
import type { Point } from "#src/domain/geo.ts";
import { type Counts, countStation, noCounts } from "#src/domain/insights.ts";
import { cellOf } from "#src/domain/price-line.ts";
import type { Grade } from "#src/domain/vocabulary.ts";

const atOnce = 1000;

/**
 * The stations as they are served at `now` (ms): counted by city id, the city of each, and their prices. Lets others work
 * in between.
 */
export async function countNow(
  model: Pick<ReadModel, "each">,
  cityAt: (place: Point) => string,
  now: number,
): Promise<{
  counts: Record<string, Counts>;
  cityOf: Map<string, string>;
  priced: PricedStations;
}> {
  const counts: Record<string, Counts> = {};
  const priced: PricedStations = { prices: [], cells: new Set() };
  const cityOf = new Map<string, string>();
  for (const { id, fuel, lat, lon } of model.each(now)) {
    const city = cityAt({ lat, lon });
    cityOf.set(id, city);
    countStation((counts[city] ??= noCounts()), fuel);
    priced.cells.add(cellOf({ lat, lon }));
    for (const [grade, price] of pairsOf(fuel.prices))
      priced.prices.push({ lat, lon, grade, price });
    if (cityOf.size % atOnce === 0) await breathe();
  }
  return { counts, cityOf, priced };
}

/** Prices as they are served, `92=58.10,95=62.50`. */
const pairsOf = (prices: string | undefined): [Grade, number][] =>
  prices === undefined
    ? []
    : prices.split(",").map((pair) => {
        const [grade, price] = pair.split("=") as [Grade, string];
        return [grade, Number(price)];
      });
