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

/** A place as it is served: now, and by day. */
export interface Figures {
  stations: number;
  statuses: StatusCounts;
  share_no: number | null;
  grades: Record<Grade, Counts["grades"][Grade] & { share_out: number | null }>;
  days: DayFigures[];
}

/** The figures of a city by its id, with its last `dayCount` days. */
export const figuresOf = (insights: Insights, id: string, dayCount: number): Figures =>
  present(insights, dayCount, insights.counts[id] ?? noCounts(), {
    timesOf: ({ cities }) => cities[id],
    sumsOf: ({ grades: sums }) => sums?.[id],
  });

/** The figures of all stations, those without a city too. */
export function figuresOfCountry(insights: Insights, dayCount: number): Figures {
  const counts = noCounts();
  for (const one of Object.values(insights.counts)) {
    counts.stations += one.stations;
    for (const status of servedStatuses) counts.statuses[status] += one.statuses[status];
    for (const grade of grades)
      for (const name of ["available", "out", "unknown"] as const)
        counts.grades[grade][name] += one.grades[grade][name];
  }
  return present(insights, dayCount, counts, {
    timesOf: ({ cities }) => {
      const sum = noTimes();
      for (const { stations, ms } of Object.values(cities)) {
        sum.stations += stations;
        for (const status of statuses) sum.ms[status] += ms[status];
      }
      return sum;
    },
    sumsOf: ({ grades: sums }) =>
      Object.values(sums ?? {}).reduce<GradeSums>(
        (all, one) => one.map((count, n) => (all[n] ?? 0) + count),
        [],
      ),
  });
}

/** A place's values of a day. */
interface OfDay {
  timesOf: (day: InsightDay) => DayTimes | undefined;
  sumsOf: (day: InsightDay) => GradeSums | undefined;
}

function present(
  { days, today }: Insights,
  dayCount: number,
  counts: Counts,
  { timesOf, sumsOf }: OfDay,
): Figures {
  // Midnight itself has no mean.
  const all = today.lengthMs > 0 ? [...days, today] : days;
  return {
    stations: counts.stations,
    statuses: counts.statuses,
    share_no: shareNo(counts.statuses),
    grades: Object.fromEntries(
      grades.map((grade) => {
        const found = counts.grades[grade];
        return [grade, { ...found, share_out: shareOut(found.out, found.available) }];
      }),
    ) as Figures["grades"],
    days: all.slice(-dayCount).map((day) => {
      const times = timesOf(day) ?? noTimes();
      const mean = meanOf(times, day === today ? today.lengthMs : dayMs);
      const { yes, low, no, queue } = times.ms;
      const share = shareNo({ yes, low, no, queue, nodata: 0 });
      return {
        day: formatDay(day.at),
        stations: times.stations,
        statuses: mean,
        share_no: share,
        share_out: sharesOut(sumsOf(day)),
      };
    }),
  };
}
