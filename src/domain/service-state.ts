import { startOfDay } from "#src/domain/time.ts";
import { dayMs, minuteMs } from "#src/domain/units.ts";

/** The service's inputs and outputs, as `/status` names them. */
export const feeds = ["statuses", "delta", "dumps", "marks", "webhooks"] as const;
export type Feed = (typeof feeds)[number];
/** `degraded`: late or missing. */
export type FeedState = "ok" | "degraded" | "unknown";

export interface FeedReport {
  feed: Feed;
  state: FeedState;
  /** Age of the data, or the wait of the oldest mark, in whole seconds; null when unknown. */
  age_s: number | null;
}

/** The facts that a web process knows. Times are ages in ms; null is unknown. */
export interface ServiceFacts {
  postgres: boolean;
  /** False while it takes no writes. */
  writable: boolean;
  /** Whether webhooks can be sent: Redis is there, and a process that sends them. */
  sends: boolean;
  /** Time since the last read of the change feed, and the age from which it is late. */
  readMs: number | null;
  readLateMs: number;
  /** How far the cursor lies behind the clock. */
  lagMs: number;
  dump: { ms: number | null; ok: boolean };
  /** Age of the oldest mark that nobody has processed; 0 without one. */
  oldestMarkMs: number | null;
  /** Time since the last search for waiting webhooks, and the age from which it is late. */
  webhooksMs: number | null;
  webhooksLateMs: number;
}

const lagLateMs = 30_000;
const markLateMs = minuteMs;

/** Judges each feed (decisions 16.32). */
export function judgeFeeds(facts: ServiceFacts): FeedReport[] {
  const { postgres, writable, sends, readMs, readLateMs, lagMs, dump, oldestMarkMs } = facts;
  const { webhooksMs, webhooksLateMs } = facts;
  const report = (feed: Feed, ms: number | null, isLate: boolean, isDown = false): FeedReport => ({
    feed,
    state:
      isDown || (ms !== null && (isLate || ms < 0)) ? "degraded" : ms === null ? "unknown" : "ok",
    // Data that seems to come from the future has no age.
    age_s: ms === null || ms < 0 ? null : Math.round(ms / 1000),
  });
  return [
    report("statuses", readMs, readMs !== null && readMs > readLateMs, readMs === null),
    report("delta", readMs === null ? null : lagMs, lagMs > lagLateMs, readMs === null),
    report("dumps", dump.ms, !dump.ok, !dump.ok),
    // Marks are refused without a Postgres that takes writes; nobody is woken for a webhook without Redis.
    report("marks", oldestMarkMs, (oldestMarkMs ?? 0) > markLateMs, !postgres || !writable),
    report("webhooks", webhooksMs, (webhooksMs ?? 0) > webhooksLateMs, !postgres || !sends),
  ];
}

/** Adds what operators tell: each feed of an open incident is `degraded`; all are by one that names no feed. */
export const withIncidents = (
  reports: readonly FeedReport[],
  open: readonly { feeds: readonly Feed[] }[],
): FeedReport[] =>
  reports.map((report) =>
    open.some(({ feeds: touched }) => touched.length === 0 || touched.includes(report.feed))
      ? { ...report, state: "degraded" }
      : report,
  );

/** `degraded` when one feed is, else `unknown` when one is, else `ok`. */
export const judgeAll = (reports: readonly FeedReport[]): FeedState =>
  (["degraded", "unknown"] as const).find((bad) => reports.some(({ state }) => state === bad)) ??
  "ok";

/** A day of a feed as it is stored. */
export interface ServiceDay {
  /** Midnight, ms. */
  at: number;
  feed: Feed;
  /** The minute of the day of the first look, 0 to 1439. */
  first: number;
  /** Number of minutes in which it was well. */
  well: number;
}

/** Minutes of a day in which a feed was well, and all minutes that count. */
export interface Minutes {
  well: number;
  of: number;
}

export interface DayOfFeeds {
  at: number;
  /** Null on days before the record began. */
  feeds: Record<Feed, Minutes | null>;
}

/**
 * The last `count` days including today, the oldest first. A minute that nobody counted was not well, from the first
 * counted minute of the whole record on. The current minute is left out until it has been counted.
 */
export function daysOf(stored: readonly ServiceDay[], count: number, now: number): DayOfFeeds[] {
  const today = startOfDay(now);
  const begun = Math.min(...stored.map(({ at, first }) => at + first * minuteMs));
  const found = new Map(stored.map(({ at, feed, well }) => [`${at} ${feed}`, well]));
  const minutesOf = (at: number, feed: Feed): Minutes | null => {
    const from = Math.max(at, begun);
    const to = Math.min(at + dayMs, Math.floor(now / minuteMs) * minuteMs);
    const well = found.get(`${at} ${feed}`) ?? 0;
    const of = Math.max(well, (to - from) / minuteMs);
    return of > 0 ? { well, of } : null;
  };
  return Array.from({ length: count }, (_, n) => {
    const at = today - (count - 1 - n) * dayMs;
    return {
      at,
      feeds: Object.fromEntries(
        feeds.map((feed) => [feed, minutesOf(at, feed)]),
      ) as DayOfFeeds["feeds"],
    };
  });
}

/** All minutes of a feed together; null without any. */
export function sumOf(days: readonly DayOfFeeds[], feed: Feed): Minutes | null {
  const known = days.map((day) => day.feeds[feed]).filter((one) => one !== null);
  const sum = (pick: (one: Minutes) => number): number =>
    known.reduce((all, one) => all + pick(one), 0);
  return known.length === 0 ? null : { well: sum(({ well }) => well), of: sum(({ of }) => of) };
}
