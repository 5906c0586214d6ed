import { setImmediate as breathe } from "node:timers/promises";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { PricedStations } from "#snapshots/insights/price-medians.ts";
import type { Point } from "#src/domain/geo.ts";
import { type Counts, countStation, noCounts } from "#src/domain/insights.ts";
import { cellOf } from "#src/domain/price-line.ts";
import type { Grade } from "#src/domain/vocabulary.ts";

const atOnce = 1000;

/** The stations as they are served at `now` (ms): counted by city id, and their prices. Lets others work in between. */
export async function countNow(
  model: Pick<ReadModel, "each">,
  cityOf: (place: Point) => string,
  now: number,
): Promise<{ counts: Record<string, Counts>; priced: PricedStations }> {
  const counts: Record<string, Counts> = {};
  const priced: PricedStations = { prices: [], cells: new Set() };
  let counted = 0;
  for (const { fuel, lat, lon } of model.each(now)) {
    countStation((counts[cityOf({ lat, lon })] ??= noCounts()), fuel);
    priced.cells.add(cellOf({ lat, lon }));
    for (const [grade, price] of pairsOf(fuel.prices))
      priced.prices.push({ lat, lon, grade, price });
    if (++counted % atOnce === 0) await breathe();
  }
  return { counts, priced };
}

/** Prices as they are served, `92=58.10,95=62.50`. */
const pairsOf = (prices: string | undefined): [Grade, number][] =>
  prices === undefined
    ? []
    : prices.split(",").map((pair) => {
        const [grade, price] = pair.split("=") as [Grade, string];
        return [grade, Number(price)];
      });
