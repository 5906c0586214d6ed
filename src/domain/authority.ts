import { secondMs } from "#src/domain/units.ts";

/** What a process knows of keys, and of who else could know more. */
export interface Knowledge {
  /** How long ago Postgres was read for it, ms. */
  ageMs: number;
  /** How long ago another process last said what it knows, ms; Infinity when none ever has. */
  heardMs: number;
  /** By how much another process has read Postgres later than it was read for this, ms; below 0 when none has. */
  behindMs: number;
}

/** So far behind another process knowledge still counts as equal: keys are read every 10 s, not all the time. */
const equalMs = 20 * secondMs;
/** With `equalMs` less than the minute after which a revoked key must be refused everywhere. */
export const oldestMs = 40 * secondMs;

/**
 * How long ago it was certain that nobody could know more, ms: when Postgres was read, or later when nobody had read it
 * since. While Postgres is away for all, nobody can revoke a key (decisions 21.17).
 */
export const uncertainMs = ({ ageMs, heardMs, behindMs }: Knowledge): number =>
  behindMs <= equalMs ? Math.min(ageMs, heardMs) : ageMs;

/** True when a key may have been revoked for so long that it must not be believed any more. */
export const isOutdated = (knowledge: Knowledge): boolean => uncertainMs(knowledge) > oldestMs;

/** So much later another web process must have read Postgres until a balancer should ask only that one. */
const staleMs = 20 * secondMs;
/** Nor does a single poll that fails make a process stale. */
const stalePolls = 5;

/**
 * True for a process that has last read Postgres at `readAt` (or has begun then) beside others that read it much later,
 * ms (decisions 21.18).
 */
export const isStaleBeside = (
  readAt: number,
  othersAt: readonly (number | null)[],
  { pollMs }: { pollMs: number },
): boolean =>
  othersAt.some((at) => at !== null && at - readAt > Math.max(staleMs, stalePolls * pollMs));
