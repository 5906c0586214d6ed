import { minuteMs } from "#src/domain/units.ts";

/** Clocks that differ by more are mentioned, ms. */
export const mentionMs = 3000;
/** Clocks that differ by more are not trusted, ms. */
export const boundMs = 30_000;
/** Time that a later step of the database's clock must last before it is followed, ms. */
export const settleMs = minuteMs;
/** Difference between two measurements of clocks that agree, ms. */
const jitterMs = 2;

/**
 * The clocks as one process sees them at `at`, a time of its monotonic clock: their distances from that clock, ms. Null
 * without an answer.
 */
export interface ClockSample {
  at: number;
  postgres: number | null;
  redis: number | null;
  /** The wall clock of this process's machine. */
  own: number;
  /** Possible error of `postgres`: half of the round trip, ms. */
  errorMs: number;
}

/** The time that a process follows. Offsets as in `ClockSample`; those of the other clocks are the last known. */
export interface FollowedTime extends Pick<ClockSample, "postgres" | "redis" | "own"> {
  offsetMs: number;
  /** The clock that `offsetMs` was taken from. */
  of: "postgres" | "redis" | "own";
  /** Set while the database's clock has stepped and is not followed: the monotonic time of the step, and its offset. */
  held: { since: number; offset: number } | null;
}

const isNear = (a: number, b: number | null): boolean => b !== null && Math.abs(a - b) <= boundMs;

/**
 * Chooses the time to follow (decisions 21.1, 21.2): the database's. When that clock steps by more than `boundMs`, the
 * time continues as before until the step has lasted for `settleMs` and Redis or the own clock agrees with it.
 */
export function followTime(before: FollowedTime | null, sample: ClockSample): FollowedTime {
  const { at, postgres, redis, own, errorMs } = sample;
  const seen = {
    postgres: postgres ?? before?.postgres ?? null,
    redis: redis ?? before?.redis ?? null,
    own,
  };
  const follow = (of: FollowedTime["of"], offsetMs: number): FollowedTime => ({
    ...{ ...seen, offsetMs, of, held: null },
  });
  const hold = (known: Pick<FollowedTime, "offsetMs" | "of">, offset: number): FollowedTime => {
    const { held = null } = before ?? {};
    const isSame = held !== null && isNear(held.offset, offset);
    return {
      ...{ ...seen, offsetMs: known.offsetMs, of: known.of },
      held: isSame ? held : { since: at, offset },
    };
  };

  if (postgres === null) {
    if (before !== null && (before.of !== "own" || redis === null)) return { ...before, ...seen };
    return redis === null ? follow("own", own) : follow("redis", redis);
  }
  if (before === null || before.of !== "postgres") {
    // Two clocks that agree say that the third is wrong.
    const isOutvoted = redis !== null && isNear(redis, own) && !isNear(redis, postgres);
    return isOutvoted
      ? hold(before?.of === "redis" ? before : { offsetMs: redis, of: "redis" }, postgres)
      : follow("postgres", postgres);
  }
  const awayMs = Math.abs(postgres - before.offsetMs);
  if (awayMs <= errorMs + jitterMs) return follow("postgres", before.offsetMs);
  if (awayMs <= boundMs) return follow("postgres", postgres);
  const held = hold(before, postgres);
  const isLasting = at - (held.held?.since ?? at) >= settleMs;
  const isWitnessed = isNear(postgres, redis) || isNear(postgres, own);
  return isLasting && isWitnessed ? follow("postgres", postgres) : held;
}

export type ClockName = "postgres" | "redis" | "own";

/** Distance of each clock from the followed time, ms; positive if it is ahead. Null if it was never seen. */
export function distancesOf(time: FollowedTime): Record<ClockName, number | null> {
  const from = (offset: number | null): number | null =>
    offset === null ? null : Math.round(offset - time.offsetMs);
  return { postgres: from(time.postgres), redis: from(time.redis), own: from(time.own) };
}

/** The clocks that differ from the followed time by more than `mentionMs`. */
export const clocksOff = (time: FollowedTime): ClockName[] =>
  Object.entries(distancesOf(time))
    .filter(([, ms]) => ms !== null && Math.abs(ms) > mentionMs)
    .map(([name]) => name as ClockName);

/**
 * False while the time may be wrong, or this machine's clock certainly is. A wrong clock of Redis does not matter: no
 * time is taken from it.
 */
export const isTrusted = (time: FollowedTime): boolean =>
  time.held === null && isNear(time.offsetMs, time.own);
