import { type Details, type Mark, type Price, order } from "#src/domain/state.ts";
import { type Grade, grades } from "#src/domain/vocabulary.ts";

/**
 * Details of a served status from its supporters, newest statement first, field by field; for grades
 * grade by grade, so that one is never in both lists (docs/decisions.md 2).
 */
export function detailsOf(supporters: readonly Mark[]): Details {
  const newestFirst = [...supporters].sort((a, b) => order(b, a));
  const said = new Map<Grade, boolean>();
  for (const mark of newestFirst) {
    for (const grade of mark.fuels ?? []) if (!said.has(grade)) said.set(grade, true);
    for (const grade of mark.fuelsNo ?? []) if (!said.has(grade)) said.set(grade, false);
  }
  return {
    fuelsNow: grades.filter((grade) => said.get(grade) === true),
    fuelsNo: grades.filter((grade) => said.get(grade) === false),
    queue: newestFirst.find((mark) => mark.queue)?.queue ?? "",
    limitL: newestFirst.find((mark) => mark.limitL !== undefined)?.limitL ?? null,
    noCash: newestFirst.find((mark) => mark.noCash != null)?.noCash ?? false,
    fuelCardsOnly: newestFirst.find((mark) => mark.fuelCardsOnly != null)?.fuelCardsOnly ?? false,
  };
}

/** Known prices and the supporters' statements together: the newest of each grade, in grade order. */
export function mergePrices(known: readonly Price[], supporters: readonly Mark[]): Price[] {
  const newest = new Map<Grade, Price>(known.map((price) => [price.grade, price]));
  for (const mark of supporters) {
    if (!mark.prices) continue;
    for (const grade of grades) {
      const price = mark.prices[grade];
      const before = newest.get(grade)?.from;
      if (price === undefined || (before !== undefined && order(before, mark) >= 0)) continue;
      newest.set(grade, { grade, price, from: { at: mark.at, id: mark.id } });
    }
  }
  return grades.flatMap((grade) => newest.get(grade) ?? []);
}
