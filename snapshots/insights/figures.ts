import {
  type Counts,
  type DayTimes,
  type GradeSums,
  meanOf,
  noCounts,
  noTimes,
  shareNo,
  shareOut,
  sharesOut,
  type StatusCounts,
} from "#src/domain/insights.ts";
import { perObject } from "#src/infrastructure/lists.ts";
import { formatDay } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { type Grade, grades, servedStatuses, statuses } from "#src/domain/vocabulary.ts";
import type { InsightDay } from "#src/marks/insight-days.ts";
import type { Insights } from "#snapshots/insights/insight-store.ts";

/** A day of a place as it is served. */
export interface DayFigures {
  day: string;
  stations: number;
  statuses: StatusCounts;
  share_no: number | null;
  share_out: Record<Grade, number | null>;
}

/** A place as it is served now. */
export interface FiguresNow {
  stations: number;
  statuses: StatusCounts;
  share_no: number | null;
  grades: Record<Grade, Counts["grades"][Grade] & { share_out: number | null }>;
}

/** A place as it is served: now, and by day. */
export interface Figures extends FiguresNow {
  days: DayFigures[];
}

/** The figures of a city by its id, with its last `dayCount` days. */
export const figuresOf = (insights: Insights, id: string, dayCount: number): Figures => ({
  ...figuresNow(insights.counts[id] ?? noCounts()),
  days: lastDays(insights, dayCount).map(({ day, lengthMs }) =>
    present(day.at, day.cities[id] ?? noTimes(), day.grades?.[id], lengthMs),
  ),
});

/** The past days of cities as JSON, each with a comma, and where each begins: made once, as long as no day changes. */
const pastOf = perObject((_days: Insights["days"]) => new Map<string, [string, number[]]>());

/** The shares of a city in ten thousandths, -1 for none: to look at the cities of each day took a fifth of a page. */
const pastShares = perObject((_days: Insights["days"]) => new Map<string, Int16Array>());

/** The last `dayCount` days of a city, `[…]`, as `figuresOf` has them: 200 cities with 90 days took 220 ms of CPU time. */
export function daysTextOf(insights: Insights, dayCount: number): (id: string) => string {
  const { days, today, isBegun, first } = spanOf(insights, dayCount);
  const textOf = (id: string, day: InsightDay, lengthMs: number): string =>
    JSON.stringify(present(day.at, day.cities[id] ?? noTimes(), day.grades?.[id], lengthMs));
  const made = (id: string): [string, number[]] => {
    let text = "";
    const starts = days.map((day) => (text += `${textOf(id, day, dayMs)},`).length);
    return [text, [0, ...starts]];
  };
  return (id) => {
    const [text, starts] = pastOf(days).get(id) ?? made(id);
    pastOf(days).set(id, [text, starts]);
    const past = text.slice(starts[first]);
    return `[${isBegun ? past + textOf(id, today, today.lengthMs) : past.slice(0, -1)}]`;
  };
}

/** The shares of a city's stations without any fuel (`no`), or without a grade, in the last `dayCount` days. */
export function sharesOfDays(insights: Insights, dayCount: number, of: Grade | "no") {
  const { days, today, isBegun, first } = spanOf(insights, dayCount);
  const n = of === "no" ? -1 : 2 * grades.indexOf(of);
  const shareOf = ({ cities, grades: sums }: InsightDay, id: string): number | null =>
    n < 0
      ? shareOfTimes(cities[id] ?? noTimes())
      : shareOut(sums?.[id]?.[n + 1] ?? 0, sums?.[id]?.[n] ?? 0);
  return (id: string): (number | null)[] => {
    const known = pastShares(days);
    const name = `${of} ${id}`;
    const past =
      known.get(name) ?? Int16Array.from(days, (day) => (shareOf(day, id) ?? -1) * 10_000 + 0.5);
    known.set(name, past);
    const shares = Array.from(past.subarray(first), (one) => (one < 0 ? null : one / 10_000));
    return isBegun ? [...shares, shareOf(today, id)] : shares;
  };
}

/** The figures of all stations, those without a city too. */
export function figuresOfCountry(insights: Insights, dayCount: number): Figures {
  const days = lastDays(insights, dayCount).map(({ day, lengthMs }) => {
    const { times, sums } = sumOf(day);
    return present(day.at, times, sums, lengthMs);
  });
  return { ...figuresNow(countsOf(insights.counts)), days };
}

const countsOf = perObject((cities: Insights["counts"]): Counts => {
  const counts = noCounts();
  for (const one of Object.values(cities)) {
    counts.stations += one.stations;
    for (const status of servedStatuses) counts.statuses[status] += one.statuses[status];
    for (const grade of grades)
      for (const name of ["available", "out", "unknown"] as const)
        counts.grades[grade][name] += one.grades[grade][name];
  }
  return counts;
});

/** The sums over all cities of a day: a past day stays the same object until it is counted again. */
const sumOf = perObject((day: InsightDay): { times: DayTimes; sums: GradeSums } => {
  const sum = { times: noTimes(), sums: [] as GradeSums };
  for (const { stations, ms } of Object.values(day.cities)) {
    sum.times.stations += stations;
    for (const status of statuses) sum.times.ms[status] += ms[status];
  }
  for (const one of Object.values(day.grades ?? {}))
    for (const [n, count] of one.entries()) sum.sums[n] = (sum.sums[n] ?? 0) + count;
  return sum;
});

export const figuresNow = (counts: Counts): FiguresNow => ({
  stations: counts.stations,
  statuses: counts.statuses,
  share_no: shareNo(counts.statuses),
  grades: Object.fromEntries(
    grades.map((grade) => {
      const found = counts.grades[grade];
      return [grade, { ...found, share_out: shareOut(found.out, found.available) }];
    }),
  ) as Figures["grades"],
});

const shareOfTimes = ({ ms: { yes, low, no, queue } }: DayTimes): number | null =>
  shareNo({ yes, low, no, queue, nodata: 0 });

/** Whether today is one of the last days, and where they begin among those before. Midnight itself has no mean. */
function spanOf({ days, today }: Insights, dayCount: number) {
  const isBegun = today.lengthMs > 0;
  const first = Math.max(0, days.length - dayCount + Number(isBegun));
  return { days, today, isBegun, first };
}

/** The last days with the part of each that has passed, ms. */
function lastDays(insights: Insights, dayCount: number): { day: InsightDay; lengthMs: number }[] {
  const { days, today, isBegun, first } = spanOf(insights, dayCount);
  const past = days.slice(first).map((day) => ({ day, lengthMs: dayMs }));
  return isBegun ? [...past, { day: today, lengthMs: today.lengthMs }] : past;
}

const present = (
  at: InsightDay["at"],
  times: DayTimes,
  sums: GradeSums | undefined,
  lengthMs: number,
): DayFigures => ({
  day: formatDay(at),
  stations: times.stations,
  statuses: meanOf(times, lengthMs),
  share_no: shareOfTimes(times),
  share_out: sharesOut(sums),
});
