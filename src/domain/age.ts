import { secondMs } from "#src/domain/units.ts";

/** The times of processes that follow the same clock differ by less than this, ms. */
export const slackMs = 1000;

/**
 * Age, ms, of something that another process made at `at`. A negative age means that one of the two processes has a
 * wrong clock; it must not count as fresh (decisions 21.6).
 */
export const ageOf = (at: number, now: number): number => {
  const ageMs = now - at;
  return ageMs < 0 && ageMs >= -slackMs ? 0 : ageMs;
};

/** True for an age from 0 up to `maxMs`. */
export const isYoung = (ageMs: number, maxMs: number): boolean => ageMs >= 0 && ageMs <= maxMs;

/** The age of a process's knowledge of keys, compared with that of other processes. */
interface Knowledge {
  /** Time since the read of Postgres behind it, ms. */
  ageMs: number;
  /** Time since another process last published its facts, ms; Infinity when none ever has. */
  heardMs: number;
  /** How much later another process has read Postgres, ms; below 0 when none has read it later. */
  behindMs: number;
}

/** Knowledge counts as equal up to this delay behind another process, because keys are read only every 10 s. */
const equalMs = 20 * secondMs;
/** The sum with `equalMs` must stay below the minute after which a revoked key is refused everywhere. */
export const oldestMs = 40 * secondMs;

/**
 * Time since it was last certain that nobody knew more, ms: at the last read of Postgres, or later if nobody had read
 * it since. Nobody can revoke a key while no process reaches Postgres (decisions 21.17).
 */
export const uncertainMs = ({ ageMs, heardMs, behindMs }: Knowledge): number =>
  behindMs <= equalMs ? Math.min(ageMs, heardMs) : ageMs;

/** True when a key may have been revoked for so long that it must not be believed any more. */
export const isOutdated = (knowledge: Knowledge): boolean => uncertainMs(knowledge) > oldestMs;

/** A process is stale when another web process has read Postgres later by this, ms: a balancer should ask that one. */
const staleMs = 20 * secondMs;
/** Polls that must fail: a single failed poll does not make a process stale. */
const stalePolls = 5;

/**
 * True when a process last read Postgres at `readAt` (or started then, ms), much earlier than one of the others at
 * `othersAt` (decisions 21.18).
 */
export const isStaleBeside = (
  readAt: number,
  othersAt: readonly (number | null)[],
  { pollMs }: { pollMs: number },
): boolean =>
  othersAt.some((at) => at !== null && at - readAt > Math.max(staleMs, stalePolls * pollMs));
