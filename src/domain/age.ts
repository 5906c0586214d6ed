/** Processes that follow the same clock differ by less, ms. */
export const slackMs = 1000;

/**
 * How old that is which another process made at `at`, ms. Below zero only when it lies in the future: then one of the two
 * went by a wrong clock, and it must not count as fresh (decisions 21.6).
 */
export const ageOf = (at: number, now: number): number => {
  const ageMs = now - at;
  return ageMs < 0 && ageMs >= -slackMs ? 0 : ageMs;
};

/** True for an age from 0 up to `maxMs`. */
export const isYoung = (ageMs: number, maxMs: number): boolean => ageMs >= 0 && ageMs <= maxMs;
