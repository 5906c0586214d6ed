/** Summary of a copy of the stations, valid for every moment from `sinceMs` to `asOfMs`. */
export interface Copy {
  /** The number of the last change in the copy; it has every change up to this one, and no later one. */
  seq: number;
  /** Stations in service. */
  count: number;
  /** Sum of their digests. */
  sum: string;
  sinceMs: number;
  asOfMs: number;
}

/** The content that a process serves. */
export interface Content extends Copy {
  /** Stations that serve a status now, and the greatest number of them in the last minute. */
  known: number;
  mostKnown: number;
}

/** The content of the database, counted. */
export interface Counted {
  /** The newest change. */
  seq: number;
  count: number;
  known: number;
}

/** The result of one comparison; `unknown` when there was nothing to compare. */
export type Verdict = "same" | "different" | "unknown";

/** The content depends only on changes and time, so copies of the same change and a common moment have equal sums. */
const isComparable = (a: Copy, b: Copy): boolean =>
  a.seq === b.seq && a.sinceMs <= b.asOfMs && b.sinceMs <= a.asOfMs;

/** Compares each of `some` with each of `others`, but none with itself. */
export const compareCopies = (some: readonly Copy[], others: readonly Copy[]): Verdict =>
  together(
    some.flatMap((a) =>
      others
        .filter((b) => a !== b && isComparable(a, b))
        .map((b) => (a.count === b.count && a.sum === b.sum ? "same" : "different")),
    ),
  );

/** Stations that may differ for the moment: rows follow the time by some seconds, and processes follow the rows. */
const underWay = (count: number): number => Math.max(20, count / 50);

/** Compares the served content with the rows. The stations in service must be the same at the same change. */
export const compareWithDatabase = (served: readonly Content[], database: Counted): Verdict =>
  together(
    served.map(({ seq, count, known }) => {
      const some = underWay(database.count);
      const isCount =
        seq === database.seq ? count === database.count : Math.abs(count - database.count) <= some;
      return isCount && Math.abs(known - database.known) <= some ? "same" : "different";
    }),
  );

const together = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.includes("different") ? "different" : (verdicts[0] ?? "unknown");

/** The number of comparisons in a row that found a difference, after one more. */
export const streakAfter = (streak: number, verdict: Verdict): number =>
  verdict === "unknown" ? streak : verdict === "same" ? 0 : streak + 1;

/** Differences in a row that count as real: a single one may be a copy that is just changing. */
export const streakTold = 3;

/** Below this number, statuses may well end together by chance. */
const fewKnown = 50;

/** True when a fifth of the statuses or more is gone. */
export const hasLostStatuses = ({
  known,
  mostKnown,
}: Pick<Content, "known" | "mostKnown">): boolean =>
  mostKnown >= fewKnown && known <= 0.8 * mostKnown;
