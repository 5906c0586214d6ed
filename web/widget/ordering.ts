import { chanceOf, likelyFrom, type Near, priceOf } from "#src/domain/grade-answer.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import type { Grade } from "#src/domain/vocabulary.ts";
import { ageMinOf, fadingOfAge } from "#web/widget/age.ts";

/** What comes first in a list of stations. */
export type Order = "near" | "likely" | "fresh" | "cheap";

type Listed = Near<{
  fuel: Pick<FuelBlock, "status" | "updated" | "prices" | "fuels_now" | "fuels_no" | "chance">;
  grades_sold?: string | undefined;
}>;

/** True for an answer that was told so long ago that without a chance its sign is but a thin outline. */
export const isOld = ({ station: { fuel } }: Listed, now: number): boolean =>
  fadingOfAge(ageMinOf(fuel, now)) === 3;

/**
 * The rows in that order, old answers apart: whoever told of fuel yesterday says little of today. `rows`: the nearest
 * first, which also decides between equals. A station whose price is unknown is the last of `cheap`. `likely`: the
 * nearest of those where the fuel is likely, then the likeliest; it weighs the age already, so none is apart.
 */
export function ordered<Row extends Listed>(
  rows: readonly Row[],
  { order, grade, now }: { order: Order; grade: Grade | null; now: number },
): { recent: Row[]; old: Row[] } {
  const priceIn = ({ station: { fuel } }: Row): number =>
    grade === null ? 0 : Number(priceOf(fuel.prices, grade) ?? Number.POSITIVE_INFINITY);
  const rank: Record<Order, (row: Row) => number> = {
    near: () => 0,
    fresh: ({ station: { fuel } }) => -(parseTime(fuel.updated) ?? 0),
    cheap: priceIn,
    likely: ({ station }) => {
      const chance = chanceOf(station, grade);
      return chance === null ? 101 : chance >= likelyFrom ? 0 : 100 - chance;
    },
  };
  const sorted = [...rows].sort((a, b) => {
    const [one, other] = [rank[order](a), rank[order](b)];
    return one === other ? 0 : one - other;
  });
  if (order === "likely") return { recent: sorted, old: [] };
  return {
    recent: sorted.filter((row) => !isOld(row, now)),
    old: sorted.filter((row) => isOld(row, now)),
  };
}
