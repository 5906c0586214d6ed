import { dayMs, hourMs, pauseMs } from "#src/domain/units.ts";

/** The meaning of a receiver's answer: 2xx is taken, 410 wants no more, everything else is tried again. */
type Taken = "taken" | "gone" | "failed";

/** `status` is null without an answer. A redirect is a failure, because it is not followed (decisions 20.6). */
export function takenBy(status: number | null): Taken {
  if (status === null) return "failed";
  if (status === 410) return "gone";
  return status >= 200 && status < 300 ? "taken" : "failed";
}

/** A receiver that has failed for this long is switched off. */
export const givenUpAfterMs = 3 * dayMs;
const growth = 4;
const longestPauseMs = 4 * hourMs;
/** A pause varies by up to this part, so that receivers which failed together do not come back together. */
const jitter = 0.2;

/**
 * The pause, ms, after a failed attempt at `now`; null when the receiver has failed for `patienceMs` and is given up.
 * `failures` is how many attempts in a row have failed with this one, `since` the time of the first of them, `random`
 * from 0 to 1. The last pause ends together with the patience.
 */
export function pauseAfterFailure(
  { failures, since }: { failures: number; since: number },
  {
    now,
    firstPauseMs,
    random,
    patienceMs = givenUpAfterMs,
  }: { now: number; firstPauseMs: number; random: number; patienceMs?: number },
): number | null {
  const leftMs = since + patienceMs - now;
  if (leftMs <= 0) return null;
  const usual = pauseMs(failures - 1, firstPauseMs, longestPauseMs, growth);
  return Math.min(leftMs, Math.round(usual * (1 - jitter + 2 * jitter * random)));
}
