import type { Config } from "#src/infrastructure/config.ts";

/** Source of the current time in ms since the epoch. Injected everywhere, so that tests can shift it. */
export type Clock = () => number;

/** The process's clock, shifted by CLOCK_OFFSET_S as SQL's `server_now()` is. */
export const createClock = (config: Pick<Config, "clockOffsetS">): Clock => {
  const offsetMs = config.clockOffsetS * 1000;
  return () => Date.now() + offsetMs;
};
