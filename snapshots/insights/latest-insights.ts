import { createInsightStore, type Insights } from "#snapshots/insights/insight-store.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

const lookEveryMs = 1000;

/** Keeps the newest insights in memory; looks for newer ones when it is asked, once a second at most. */
export function createLatestInsights(deps: Pick<Resources, "config" | "log" | "redis">) {
  const { config, log, redis } = deps;
  const store = createInsightStore(redis, config.redisPrefix);
  let latest: (Insights & { builtAtMs: number }) | null = null;
  // By the time since the start: a clock that is set back must not stop the looks.
  let lookedAt = -Infinity;
  let looking: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    lookedAt = performance.now();
    const found = await store.load(latest?.builtAtMs ?? null);
    if (found !== null && found !== "same") latest = found;
  };
  return {
    /** Null as long as none were made. Old ones while Redis is away. */
    async get(): Promise<(Insights & { builtAtMs: number }) | null> {
      if (latest === null || performance.now() - lookedAt >= lookEveryMs) {
        looking ??= look()
          .catch((error: unknown) =>
            log.debug({ err: (error as Error).message }, "no look at the insights"),
          )
          .finally(() => (looking = null));
        await looking;
      }
      return latest;
    },
  };
}
