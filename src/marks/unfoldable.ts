import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { isBrokenOff } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { formatTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";

/** A station that cannot be folded now: its marks wait, and a worker tries it again after pauses. Times in ms. */
export interface UnfoldableStation {
  stationId: string;
  since: number;
  nextAt: number;
  reason: string;
}

const keyOf = (prefix: string): string => `${prefix}:unfoldable`;

/** Why a station cannot be folded, in words that name no statement and no value. */
export const reasonOf = (error: unknown): string =>
  isBrokenOff(error)
    ? `Postgres broke off its refold (${(error as { code: string }).code})`
    : `its refold fails (${error instanceof Error ? error.name : typeof error})`;

/** Tells all processes which stations cannot be folded and which can be again. Rejects while Redis is away. */
export async function noteUnfoldable(
  redis: Redis,
  prefix: string,
  failing: readonly UnfoldableStation[],
  healed: readonly string[],
): Promise<void> {
  const key = keyOf(prefix);
  const told = failing.map((station) => [station.stationId, JSON.stringify(station)]);
  if (told.length > 0) await redis.hset(key, Object.fromEntries(told));
  if (healed.length > 0) await redis.hdel(key, ...healed);
}

const lookEveryMs = 5000;
/** A worker that tries a station says so each time. One that is gone says nothing more. */
const forgottenAfterMs = 10 * minuteMs;
const namedMax = 5;

/** Watches which stations cannot be folded, over all marks workers, for `/readyz` and `/metrics`. */
export function createUnfoldableWatch(deps: {
  config: Config;
  log: Log;
  clock: Clock;
  redis: Redis;
}) {
  const { config, log, clock, redis } = deps;
  let stations: readonly UnfoldableStation[] | null = null;

  const { start, stop } = createPolled({
    everyMs: Math.min(config.slotMs, lookEveryMs),
    look: async () => {
      const found = await redis.hvals(keyOf(config.redisPrefix));
      stations = found
        .map((text) => JSON.parse(text) as UnfoldableStation)
        .filter(({ nextAt }) => clock() < nextAt + forgottenAfterMs)
        .sort((a, b) => a.since - b.since);
    },
    onError: (err) => {
      // The connection has logged that Redis is away.
      stations = null;
      log.debug({ err }, "no look at unfoldable stations");
    },
  });

  return {
    ...{ start, stop },
    /** How many stations cannot be folded; NaN while Redis is away. */
    count: (): number => stations?.length ?? NaN,
    /** For `/readyz`: whether every station can be folded. */
    condition(): { ok: boolean; detail: unknown } {
      if (stations === null) return { ok: true, detail: "unknown without Redis" };
      if (stations.length === 0) return { ok: true, detail: "every station can be folded" };
      const names = stations
        .slice(0, namedMax)
        .map(
          ({ stationId, since, reason }) => `${stationId}: ${reason} since ${formatTime(since)}`,
        );
      const more = stations.length - names.length;
      return { ok: false, detail: [...names, ...(more > 0 ? [`${more} more`] : [])].join("; ") };
    },
  };
}
