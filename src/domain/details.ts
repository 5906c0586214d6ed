import { type AlikeRules, isAlike } from "#src/domain/price-line.ts";
import { type Details, type Mark, type Price, order } from "#src/domain/state.ts";
import { type Grade, grades } from "#src/domain/vocabulary.ts";

/** Gives the number of independent devices behind these marks. */
export type CountDevices = (marks: readonly Mark[]) => number;

export const noDetails: Details = {
  fuelsNow: [],
  fuelsNo: [],
  queue: "",
  limitL: null,
  noCash: false,
  fuelCardsOnly: false,
};

/**
 * Details of a served status from its supporters, newest statement first, for each field on its own; grades are taken
 * one by one, so that no grade is in both lists (decisions 2.27, 2.28).
 */
export function detailsOf(supporters: readonly Mark[], count: CountDevices): Details {
  const newestFirst = supporters.toSorted((a, b) => order(b, a));
  const counted = <T>(stated: (mark: Mark) => T | undefined): T | undefined =>
    newestCounted(newestFirst, stated, count)?.value;
  const said = new Map(
    grades.map((grade) => [
      grade,
      counted((mark) =>
        mark.fuels?.includes(grade) === true
          ? true
          : mark.fuelsNo?.includes(grade) === true
            ? false
            : undefined,
      ),
    ]),
  );
  return {
    fuelsNow: grades.filter((grade) => said.get(grade) === true),
    fuelsNo: grades.filter((grade) => said.get(grade) === false),
    queue: counted((mark) => mark.queue ?? undefined) ?? "",
    limitL: counted((mark) => mark.limitL) ?? null,
    noCash: counted((mark) => mark.noCash ?? undefined) ?? false,
    fuelCardsOnly: counted((mark) => mark.fuelCardsOnly ?? undefined) ?? false,
  };
}

/** Known prices and the supporters' statements together: the newest of each grade that counts, in grade order. */
export function mergePrices(
  known: readonly Price[],
  supporters: readonly Mark[],
  count: CountDevices,
  rules: AlikeRules,
): Price[] {
  const newestFirst = supporters.filter(({ prices }) => prices).sort((a, b) => order(b, a));
  if (newestFirst.length === 0) return [...known];
  const newest = new Map<Grade, Price>(known.map((price) => [price.grade, price]));
  for (const grade of grades) {
    const stated = newestPrice(grade, newestFirst, count, rules);
    const before = newest.get(grade)?.from;
    if (stated === null || (before !== undefined && order(before, stated.mark) >= 0)) continue;
    const { value: price, mark } = stated;
    newest.set(grade, { grade, price, from: { at: mark.at, id: mark.id } });
  }
  return grades.flatMap((grade) => newest.get(grade) ?? []);
}

/** The support that a mark's price of a grade has among the supporters. */
export interface PriceSupport {
  /** Independent devices: `needed` by the price; `have` state it or, if it is out of line, a similar one. */
  needed: number;
  have: number;
  isOutOfLine: boolean;
}

/** The support of the price of `grade` that `mark`, one of the supporters, states (decisions 2.28, 2.29). */
export function priceSupport(
  mark: Mark,
  grade: Grade,
  supporters: readonly Mark[],
  count: CountDevices,
  rules: AlikeRules,
): PriceSupport {
  const price = mark.prices![grade]!;
  const own = mark.pricesNeeded?.[grade];
  const alike = supporters.filter(({ prices }) => {
    const other = prices?.[grade];
    if (other === undefined) return false;
    return own === undefined ? other === price : isAlike(price, other, rules);
  });
  const least = Math.min(
    ...alike.map(({ needed, pricesNeeded }) => Math.max(needed, pricesNeeded?.[grade] ?? 0)),
  );
  return {
    needed: Math.max(least, own ?? 0),
    have: count(alike),
    isOutOfLine: own !== undefined,
  };
}

/** The newest counting price of a grade. */
function newestPrice(
  grade: Grade,
  newestFirst: readonly Mark[],
  count: CountDevices,
  rules: AlikeRules,
): { value: number; mark: Mark } | null {
  const passedOver = new Set<string>();
  for (const mark of newestFirst) {
    const value = mark.prices?.[grade];
    if (value === undefined) continue;
    const isOut = mark.pricesNeeded?.[grade] !== undefined;
    // Most marks need one device, and that is themselves.
    if (mark.needed <= 1 && !isOut) return { value, mark };
    // The same price in line and out of line are judged by different marks.
    const name = `${value} ${isOut}`;
    if (passedOver.has(name)) continue;
    const { needed, have } = priceSupport(mark, grade, newestFirst, count, rules);
    if (have >= needed) return { value, mark };
    passedOver.add(name);
  }
  return null;
}

/**
 * The newest value that counts: the number of independent devices that state it reaches the smallest `needed` of their
 * marks. `stated` gives undefined if a mark says nothing.
 */
function newestCounted<T>(
  newestFirst: readonly Mark[],
  stated: (mark: Mark) => T | undefined,
  count: CountDevices,
): { value: T; mark: Mark } | null {
  const passedOver: T[] = [];
  for (const mark of newestFirst) {
    const value = stated(mark);
    if (value === undefined || passedOver.includes(value)) continue;
    // Most marks need one device, and that is themselves.
    if (mark.needed <= 1) return { value, mark };
    const alike = newestFirst.filter((one) => stated(one) === value);
    if (count(alike) >= Math.min(...alike.map(({ needed }) => needed))) return { value, mark };
    passedOver.push(value);
  }
  return null;
}
