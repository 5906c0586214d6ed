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
