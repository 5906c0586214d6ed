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

/** Field by field and grade by grade what counts of the supporters' statements (docs/decisions.md 2.27, 2.28). */
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
export function newestCounting<T>(
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

/** Whether a grade is there, or not; undefined: nothing said of it. */
function stateOf(grade: Grade, { fuels, fuelsNo }: Says): boolean | undefined {
  if (fuels?.includes(grade)) return true;
  return fuelsNo?.includes(grade) ? false : undefined;
}

/** Grades as they are served. */
export const listed = (of: ReadonlySet<Grade>) => grades.filter((grade) => of.has(grade)).join(",");
