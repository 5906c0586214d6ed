import { type Grade, grades, inOrder, type OracleMark, type Says } from "#test/oracle/story.ts";

export interface Details {
  fuelsNow: Set<Grade>;
  fuelsNo: Set<Grade>;
  queue: string;
  limitL: number | null;
  noCash: boolean;
  fuelCardsOnly: boolean;
}

/** True when as many devices state a value as the least demanding of these marks, all that state it, needs. */
export type Enough = (stating: readonly OracleMark[]) => boolean;

export function noDetails(): Details {
  return {
    fuelsNow: new Set(),
    fuelsNo: new Set(),
    queue: "",
    limitL: null,
    noCash: false,
    fuelCardsOnly: false,
  };
}

/** Field by field and grade by grade what counts of the supporters' statements (decisions 2.27, 2.28). */
export function detailsOf(of: readonly OracleMark[], enough: Enough): Details {
  const counting = <T>(read: (says: Says) => T | undefined) => newestCounting(of, read, enough);
  const found = noDetails();
  for (const grade of grades) {
    const is = counting((says) => stateOf(grade, says));
    if (is?.value === true) found.fuelsNow.add(grade);
    if (is?.value === false) found.fuelsNo.add(grade);
  }
  found.queue = counting((says) => says.queue)?.value ?? "";
  found.limitL = counting((says) => says.limitL)?.value ?? null;
  found.noCash = counting((says) => says.noCash)?.value ?? false;
  found.fuelCardsOnly = counting((says) => says.fuelCardsOnly)?.value ?? false;
  return found;
}

/** Of the values with enough devices behind them the one that was stated last, with the mark that stated it last. */
function newestCounting<T>(
  of: readonly OracleMark[],
  read: (says: Says) => T | undefined,
  enough: Enough,
): { value: T; mark: OracleMark } | undefined {
  const stating = new Map<T, OracleMark[]>();
  for (const mark of [...of].sort(inOrder)) {
    const value = read(mark.says);
    if (value !== undefined) stating.set(value, [...(stating.get(value) ?? []), mark]);
  }
  return [...stating]
    .filter(([, marks]) => enough(marks))
    .map(([value, marks]) => ({ value, mark: marks.at(-1)! }))
    .sort((a, b) => inOrder(a.mark, b.mark))
    .at(-1);
}

/**
 * The newest price of a grade that counts (decisions 2.28, 2.29). In line: the least that those need who state
 * the very same. Out of line: two devices at least, of those within a twentieth of it.
 */
export function newestPrice(
  of: readonly OracleMark[],
  grade: Grade,
  devices: (of: readonly OracleMark[]) => number,
): { value: number; mark: OracleMark } | undefined {
  const hundredths = (mark: OracleMark) => Math.round(mark.says.prices![grade]! * 100);
  const isOut = (mark: OracleMark) => mark.pricesNeeded?.[grade] !== undefined;
  const needs = (mark: OracleMark) => (isOut(mark) ? Math.max(2, mark.needed) : mark.needed);
  const stating = of.filter(({ says }) => says.prices?.[grade] !== undefined);
  const counts = (mark: OracleMark): boolean => {
    const price = hundredths(mark);
    const farthest = isOut(mark) ? Math.floor(price / 20) : 0;
    const behind = stating.filter((one) => Math.abs(hundredths(one) - price) <= farthest);
    const least = Math.min(...behind.map(needs));
    return devices(behind) >= (isOut(mark) ? Math.max(2, least) : least);
  };
  const mark = [...stating].sort(inOrder).filter(counts).at(-1);
  return mark && { value: mark.says.prices![grade]!, mark };
}

/** Whether a grade is there, or not; undefined: nothing said of it. */
function stateOf(grade: Grade, { fuels, fuelsNo }: Says): boolean | undefined {
  if (fuels?.includes(grade)) return true;
  return fuelsNo?.includes(grade) ? false : undefined;
}

/** Grades as they are served. */
export const listed = (of: ReadonlySet<Grade>) => grades.filter((grade) => of.has(grade)).join(",");
