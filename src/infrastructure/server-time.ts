import { type Clock, createClock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { Redis } from "#src/infrastructure/redis.ts";

/** The time of a process (docs/decisions.md 21.1). */
export interface ServerTime {
  /** The database's time in ms, shifted by CLOCK_OFFSET_S. It goes on by the monotonic clock. */
  now: Clock;
  /** False while the clocks differ by more than the bound: then no dump is made, and nothing is deleted. */
  isTrusted(): boolean;
  /** For `/readyz`. */
  condition(): { ok: boolean; critical: boolean; detail: unknown };
  /** Has `listener` called after `now` went back by more than a moment: what was made of the later time is wrong. */
  onStepBack(listener: () => void): void;
  /** Measures once, and keeps measuring. Waits for neither Postgres nor Redis longer than their time-outs. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createServerTime(deps: {
  config: Config;
  db: Db;
  redis: Redis;
  log: Log;
}): ServerTime {
  return {
    now: createClock(deps.config),
    isTrusted: () => true,
    condition: () => ({ ok: true, critical: false, detail: "not measured" }),
    onStepBack: () => undefined,
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}
