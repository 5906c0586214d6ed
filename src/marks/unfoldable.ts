import type { Resources } from "#src/infrastructure/resources.ts";
import type { Condition } from "#src/infrastructure/parts.ts";
import { english, type Sentence } from "#src/contract/sentences.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { formatTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";

/** A station that cannot be folded now: its marks wait, and a worker tries it again after pauses. Times in ms. */
export interface UnfoldableStation {
  stationId: string;
  since: number;
  nextAt: number;
  reason: Sentence | string;
}

const keyOf = (prefix: string): string => `${prefix}:unfoldable`;

/** Tells all processes which stations cannot be folded and which can be again. Rejects while Redis is away. */
export async function noteUnfoldable(
  redis: Redis,
  prefix: string,
  failing: readonly UnfoldableStation[],
  healed: readonly string[],
): Promise<void> {
  const key = keyOf(prefix);
  // A process of the previous version shows `reason`.
  const told = failing.map(({ reason, ...station }) => [
    station.stationId,
    JSON.stringify({ ...station, reason: english(reason), said: reason }),
  ]);
  if (told.length > 0) await redis.hset(key, Object.fromEntries(told));
  if (healed.length > 0) await redis.hdel(key, ...healed);
}

const lookEveryMs = 5000;
/** A worker notes each try of a station. Notes end when it is gone, and are forgotten after this time. */
const forgottenAfterMs = 10 * minuteMs;
const namedMax = 5;

/** Watches which stations cannot be folded, over all marks workers, for `/readyz` and `/metrics`. */
export function createUnfoldableWatch({ config, log, clock, redis }: Omit<Resources, "db">) {
  let stations: readonly UnfoldableStation[] | null = null;

  const { start, stop } = createPolled({
    everyMs: Math.min(config.slotMs, lookEveryMs),
    look: async () => {
      const found = await redis.hvals(keyOf(config.redisPrefix));
      stations = found
        .map((text) => JSON.parse(text) as UnfoldableStation & { said?: Sentence })
        .map(({ said, ...one }) => {
          const { stationId, reason, since } = one;
          return {
            ...one,
            reason: said ?? `${stationId}: ${reason as string} since ${formatTime(since)}`,
          };
        })
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
    /** Number of stations that cannot be folded; NaN while Redis is away. */
    count: (): number => stations?.length ?? NaN,
    /** For `/readyz`: `ok` if every station can be folded. */
    condition(): Condition {
      if (stations === null) return { ok: true, says: [{ code: "unknown-without-redis" }] };
      if (stations.length === 0) return { ok: true, says: [{ code: "stations-foldable" }] };
      const named = stations.slice(0, namedMax).map(({ reason }) => reason);
      const n = stations.length - named.length;
      return { ok: false, says: [...named, ...(n > 0 ? [{ code: "more", n } as const] : [])] };
    },
  };
}
