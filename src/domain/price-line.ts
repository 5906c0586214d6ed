import { boxAround, circleAround, directionOf, type Point } from "#src/domain/geo.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import { type Grade, grades } from "#src/domain/vocabulary.ts";

/** The numbers of decisions 2.29 that define a price out of line. */
export interface PriceRules {
  /** A price that is further than this from its median, per cent, is out of line. */
  priceLinePercent: number;
  /** Radius in which prices count towards a median, metres. */
  priceNearM: number;
  /** Fewer prices than this give no median. */
  priceNearMin: number;
}

/** The greatest difference of a second price that supports the first, per cent. */
export type AlikeRules = Pick<FoldRules, "priceAlikePercent">;

/** A price of a litre by grade; a grade that is absent has none. */
export type ByGrade = Readonly<Partial<Record<Grade, number>>>;

/** Devices that a price out of line needs at least. */
const neededOutOfLine = 2;

/** Prices have two decimals; whole numbers compare exactly. */
const kopecks = (price: number): number => Math.round(price * 100);

/** True if `price` is too far from the median around it; false without a median (null). */
export const isOutOfLine = (
  price: number,
  median: number | null,
  { priceLinePercent }: Pick<PriceRules, "priceLinePercent">,
): boolean =>
  median !== null &&
  100 * Math.abs(kopecks(price) - kopecks(median)) > priceLinePercent * kopecks(median);

/** True if `other` supports `price`, which is out of line. */
export const isAlike = (price: number, other: number, { priceAlikePercent }: AlikeRules): boolean =>
  100 * Math.abs(kopecks(other) - kopecks(price)) <= priceAlikePercent * kopecks(price);

/** Devices that a mark's prices out of line need; null when no price is out of line. Judged once, at acceptance. */
export function pricesNeeded(
  prices: ByGrade,
  medians: ByGrade,
  rules: Pick<PriceRules, "priceLinePercent">,
): ByGrade | null {
  const out = grades.filter((grade) => {
    const price = prices[grade];
    return price !== undefined && isOutOfLine(price, medians[grade] ?? null, rules);
  });
  return out.length === 0 ? null : Object.fromEntries(out.map((grade) => [grade, neededOutOfLine]));
}

const cellsInDegree = 2;
const columns = 360 * cellsInDegree;
const lastRow = 180 * cellsInDegree - 1;

const rowOf = (lat: number): number => Math.min(lastRow, Math.floor((lat + 90) * cellsInDegree));
/** 180° is -180°. */
const columnOf = (lon: number): number => Math.floor((lon + 180) * cellsInDegree) % columns;

/** The cell of the grid that a place lies in: half a degree in each direction. One median holds for all of it. */
export const cellOf = ({ lat, lon }: Point): number => rowOf(lat) * columns + columnOf(lon);

const middleOf = (cell: number): Point => ({
  lat: (Math.floor(cell / columns) + 0.5) / cellsInDegree - 90,
  lon: ((cell % columns) + 0.5) / cellsInDegree - 180,
});

export type PriceGrid = ReturnType<typeof createPriceGrid>;

/**
 * Takes the prices of stations and gives the medians of any cell by grade, over the prices within `priceNearM` of its
 * middle, if there are enough. A cell reads thousands of prices, and a country has a million, hence the flat arrays.
 */
export function createPriceGrid({
  priceNearM,
  priceNearMin,
}: Pick<PriceRules, "priceNearM" | "priceNearMin">) {
  /** For each station with prices its direction (x, y, z) and the kopecks of each grade, below 0 for none. */
  const flat = new Map<number, number[]>();
  const stride = 3 + grades.length;
  return {
    add(place: Point, prices: ByGrade): void {
      const cell = cellOf(place);
      let there = flat.get(cell);
      if (there === undefined) flat.set(cell, (there = []));
      if (Object.keys(prices).length === 0) return;
      there.push(...directionOf(place), ...grades.map((grade) => kopecks(prices[grade] ?? -1)));
    },
    /** The cells with a station. */
    cells: (): Iterable<number> => flat.keys(),
    mediansOf(cell: number): ByGrade {
      const middle = middleOf(cell);
      const isNear = circleAround(middle, priceNearM);
      const found = grades.map((): number[] => []);
      for (const near of cellsAround(middle, priceNearM)) {
        const there = flat.get(near) ?? [];
        for (let at = 0; at < there.length; at += stride) {
          if (!isNear(there[at]!, there[at + 1]!, there[at + 2]!)) continue;
          for (let n = 0; n < grades.length; n += 1)
            if (there[at + 3 + n]! >= 0) found[n]!.push(there[at + 3 + n]!);
        }
      }
      return Object.fromEntries(
        grades.flatMap((grade, n) =>
          found[n]!.length < priceNearMin ? [] : [[grade, medianOf(found[n]!) / 100]],
        ),
      );
    },
  };
}

/** The cells that a circle may touch, also across 180°. */
function* cellsAround(middle: Point, radiusM: number): Generator<number> {
  const { south, west, north, east } = boxAround(middle, radiusM);
  const first = columnOf(west);
  const across =
    west === -180 && east === 180 ? columns : ((columnOf(east) - first + columns) % columns) + 1;
  for (let row = rowOf(south); row <= rowOf(north); row += 1)
    for (let n = 0; n < across; n += 1) yield row * columns + ((first + n) % columns);
}

/** A whole number for whole numbers: for an even count the mean of the two in the middle, rounded up. */
function medianOf(some: readonly number[]): number {
  const sorted = Float64Array.from(some).sort();
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half]!;
  return sorted.length % 2 === 1 ? upper : Math.round((sorted[half - 1]! + upper) / 2);
}
