import { formatTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";

/** The sender of a request: a partner's server, or its pages through a publishable key. */
export type Audience = "partner" | "widget";

/** Counts of one method (`GET /stations`) on one UTC day (days since the epoch). */
export interface UsageCount {
  day: number;
  audience: Audience;
  method: string;
  requests: number;
  notModified: number;
  errors: number;
}

/** Number of answers with a problem code for a call on a UTC day (days since the epoch). */
export interface ErrorCount {
  day: number;
  audience: Audience;
  method: string;
  code: string;
  /** Requests that are among the errors of `UsageCount`. */
  counted: number;
  /** Requests that were refused before they were counted: a limit, or a 403 of the key. */
  refused: number;
  /** Marks of a batch that were refused, while the batch was taken. */
  marks: number;
}

/** Requests of an hour (hours since the epoch) whose duration was in a bucket of src/limits/request-journal.ts. */
export interface HourCount {
  hour: number;
  audience: Audience;
  bucket: number;
  requests: number;
  errors: number;
  /** Requests that were refused before they were counted; they are not in `requests`, and have no duration. */
  refused: number;
}

/** A day of the usage record, decisions 6. */
export interface UsageDay {
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  requests: number;
  not_modified: number;
  errors: number;
  methods: Record<string, number>;
}

/** One audience's last `days` days, the newest (`today`) first, days without requests filled in. */
export function usageDays(
  counts: readonly UsageCount[],
  audience: Audience,
  today: number,
  days: number,
): UsageDay[] {
  return Array.from({ length: days }, (_, back) => {
    const ofDay = counts.filter((one) => one.day === today - back && one.audience === audience);
    const methods = new Map<string, number>();
    for (const { method, requests } of ofDay)
      methods.set(method, (methods.get(method) ?? 0) + requests);
    return {
      date: dateOf(today - back),
      requests: sum(ofDay, "requests"),
      not_modified: sum(ofDay, "notModified"),
      errors: sum(ofDay, "errors"),
      methods: Object.fromEntries(
        // A request may be flushed before its error is known, and an older process flushes details as a method without requests.
        [...methods].filter(([, n]) => n > 0).sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
    };
  });
}

const dateOf = (day: number): string => formatTime(day * dayMs).slice(0, 10);

const sum = (counts: readonly UsageCount[], field: "requests" | "notModified" | "errors"): number =>
  counts.reduce((total, one) => total + one[field], 0);
