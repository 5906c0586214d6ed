/** A copy of the stations: what stood in it at every moment from `sinceMs` to `asOfMs`. */
export interface Copy {
  /** Every change up to this number is in it, and none after it. */
  seq: number;
  /** Stations in service. */
  count: number;
  /** Sum of their digests. */
  sum: string;
  sinceMs: number;
  asOfMs: number;
}

/** What a process serves. */
export interface Content extends Copy {
  /** Stations that serve a status, and the most of them at any moment of the last minute. */
  known: number;
  mostKnown: number;
}

/** What the database has, counted. */
export interface Counted {
  /** The newest change. */
  seq: number;
  count: number;
  known: number;
}

/** What one comparison says; `unknown` when there was nothing to compare. */
export type Verdict = "same" | "different" | "unknown";

/** The content depends on changes and time alone, so of two copies with both in common the sums are equal. */
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

/** Rows follow the time by some seconds, and processes the rows: so many stations may be under way. */
const underWay = (count: number): number => Math.max(20, count / 50);

/** Compares what is served with what the rows say. The stations in service must be the same at the same change. */
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

/** How many comparisons in a row have found a difference, after one more. */
export const streakAfter = (streak: number, verdict: Verdict): number =>
  verdict === "unknown" ? streak : verdict === "same" ? 0 : streak + 1;

/** After so many comparisons in a row a difference counts: one alone may be a copy on its way to another state. */
export const streakTold = 3;

/** Fewer statuses may well end together. */
const fewKnown = 50;

/** True when a fifth of the statuses or more is gone. */
export const hasLostStatuses = ({
  known,
  mostKnown,
}: Pick<Content, "known" | "mostKnown">): boolean =>
  mostKnown >= fewKnown && known <= 0.8 * mostKnown;
