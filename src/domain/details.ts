import { type Details, type Mark, type Price, order } from "#src/domain/state.ts";
import { type Grade, grades } from "#src/domain/vocabulary.ts";

/** How many independent devices are behind these marks. */
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
 * Details of a served status from its supporters, newest statement first, field by field; for grades grade by grade, so
 * that one is never in both lists (docs/decisions.md 2.27, 2.28).
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
): Price[] {
  const newestFirst = supporters.filter(({ prices }) => prices).sort((a, b) => order(b, a));
  if (newestFirst.length === 0) return [...known];
  const newest = new Map<Grade, Price>(known.map((price) => [price.grade, price]));
  for (const grade of grades) {
    const stated = newestCounted(newestFirst, (mark) => mark.prices?.[grade], count);
    const before = newest.get(grade)?.from;
    if (stated === null || (before !== undefined && order(before, stated.mark) >= 0)) continue;
    const { value: price, mark } = stated;
    newest.set(grade, { grade, price, from: { at: mark.at, id: mark.id } });
  }
  return grades.flatMap((grade) => newest.get(grade) ?? []);
}

/**
 * The newest value that counts: as many independent devices state it as the smallest `needed` among the marks that state
 * it. `stated` gives undefined where a mark says nothing.
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
