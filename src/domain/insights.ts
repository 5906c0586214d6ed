import { answerFor, hasFuel } from "#src/domain/grade-answer.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import {
  type Grade,
  grades,
  type ServedStatus,
  type Status,
  statuses,
} from "#src/domain/vocabulary.ts";

/** Stations by the status that they serve; on average over a time these are fractions. */
export type StatusCounts = Record<ServedStatus, number>;

/** Stations by their answer for a grade. */
export interface GradeCounts {
  available: number;
  out: number;
  unknown: number;
}

/** Stations of a place as they are at one moment. */
export interface Counts {
  stations: number;
  statuses: StatusCounts;
  grades: Record<Grade, GradeCounts>;
}

/** Stations of a place, and the ms for which they served each status in a day; the rest of the day is `nodata`. */
export interface DayTimes {
  stations: number;
  ms: Record<Status, number>;
}

export const noStatuses = (): StatusCounts => ({ yes: 0, low: 0, no: 0, queue: 0, nodata: 0 });

export const noCounts = (): Counts => ({
  stations: 0,
  statuses: noStatuses(),
  grades: Object.fromEntries(
    grades.map((grade) => [grade, { available: 0, out: 0, unknown: 0 }]),
  ) as Counts["grades"],
});

export const noTimes = (): DayTimes => ({ stations: 0, ms: { yes: 0, low: 0, no: 0, queue: 0 } });

/** Counts a station by its status and its answer for each grade. */
export function countStation(counts: Counts, fuel: FuelBlock): void {
  counts.stations += 1;
  counts.statuses[fuel.status] += 1;
  for (const grade of grades) {
    const answer = answerFor(fuel, grade);
    const found = hasFuel(answer) ? "available" : answer === "no" ? "out" : "unknown";
    counts.grades[grade][found] += 1;
  }
}

/** Two numbers for each grade: stations that have it and stations that are out of it, summed over several looks. */
export type GradeSums = number[];

/** Adds one look to `sums`. */
export const addCounts = (sums: GradeSums | undefined, counts: Counts): GradeSums =>
  grades.flatMap((grade, n) => {
    const { available, out } = counts.grades[grade];
    return [(sums?.[2 * n] ?? 0) + available, (sums?.[2 * n + 1] ?? 0) + out];
  });

/** The part of stations without each grade over all looks, as in `shareOut`. */
export const sharesOut = (sums: GradeSums | undefined): Record<Grade, number | null> =>
  Object.fromEntries(
    grades.map((grade, n) => [grade, shareOut(sums?.[2 * n + 1] ?? 0, sums?.[2 * n] ?? 0)]),
  ) as Record<Grade, number | null>;

/** Average number of stations that served each status in a day of which `lengthMs` have passed; two decimals. */
export function meanOf({ stations, ms }: DayTimes, lengthMs: number): StatusCounts {
  const mean = noStatuses();
  let known = 0;
  for (const status of statuses) {
    known += ms[status];
    mean[status] = hundredths(ms[status] / lengthMs);
  }
  mean.nodata = hundredths(stations - known / lengthMs);
  return mean;
}

const hundredths = (value: number): number => Math.max(0, Math.round(value * 100) / 100);

/** The part of `out` among the stations that are known, four decimals; null if none is known. */
export const shareOut = (out: number, available: number): number | null =>
  out + available === 0 ? null : Math.round((out / (out + available)) * 10_000) / 10_000;

/** The part of stations without any fuel among those with a status. */
export const shareNo = ({ yes, low, no, queue }: StatusCounts): number | null =>
  shareOut(no, yes + low + queue);
