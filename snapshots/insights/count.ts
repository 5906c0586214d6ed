import { setImmediate as breathe } from "node:timers/promises";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { Point } from "#src/domain/geo.ts";
import { type Counts, countStation, noCounts } from "#src/domain/insights.ts";
import type { ByGrade, PriceGrid } from "#src/domain/price-line.ts";

const atOnce = 1000;

/**
 * The stations as they are served at `now` (ms): counted by city id, and the city of each. Their prices go into the grid.
 * Lets others work in between.
 */
export async function countNow(
  model: Pick<ReadModel, "each">,
  cityAt: (place: Point) => string,
  grid: Pick<PriceGrid, "add">,
  now: number,
): Promise<{ counts: Record<string, Counts>; cityOf: Map<string, string> }> {
  const counts: Record<string, Counts> = {};
  const cityOf = new Map<string, string>();
  for (const { id, fuel, lat, lon } of model.each(now)) {
    const city = cityAt({ lat, lon });
    cityOf.set(id, city);
    countStation((counts[city] ??= noCounts()), fuel);
    grid.add({ lat, lon }, pricesOf(fuel.prices));
    if (cityOf.size % atOnce === 0) await breathe();
  }
  return { counts, cityOf };
}

/** Prices as they are served, `92=58.10,95=62.50`. */
const pricesOf = (prices: string | undefined): ByGrade =>
  prices === undefined
    ? {}
    : Object.fromEntries(
        prices.split(",").map((pair) => {
          const [grade = "", price] = pair.split("=");
          return [grade, Number(price)];
        }),
      );
