import { type Grade, grades, type Says } from "#test/oracle/story.ts";

export interface Details {
  fuelsNow: Set<Grade>;
  fuelsNo: Set<Grade>;
  queue: string;
  limitL: number | null;
  noCash: boolean;
  fuelCardsOnly: boolean;
}

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

/** Newest statement first, field by field and grade by grade; `of` is in order, oldest first. */
export function detailsOf(of: readonly { readonly says: Says }[]): Details {
  const found = noDetails();
  for (const { says } of of) {
    for (const grade of says.fuels ?? []) {
      found.fuelsNow.add(grade);
      found.fuelsNo.delete(grade);
    }
    for (const grade of says.fuelsNo ?? []) {
      found.fuelsNo.add(grade);
      found.fuelsNow.delete(grade);
    }
    if (says.queue !== undefined) found.queue = says.queue;
    if (says.limitL !== undefined) found.limitL = says.limitL;
    if (says.noCash !== undefined) found.noCash = says.noCash;
    if (says.fuelCardsOnly !== undefined) found.fuelCardsOnly = says.fuelCardsOnly;
  }
  return found;
}

/** Grades as they are served. */
export const listed = (of: ReadonlySet<Grade>) => grades.filter((grade) => of.has(grade)).join(",");
