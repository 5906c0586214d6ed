import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Follower } from "#src/feed/follower.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { createAskedSets } from "#snapshots/dumps/asked-sets.ts";
import { buildSetDump } from "#snapshots/dumps/dump.ts";
import { type DumpSet, setName } from "#snapshots/dumps/dump-set.ts";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import type { ReadModel } from "#snapshots/model/model.ts";

/**
 * Keeps dumps of the sets ready that were asked for in the last hour, the latest asked for first, as far as the
 * budgets of bytes and of half a slot's time go. What is left out is answered by the web processes themselves.
 */
export function createSetsDuty(deps: {
  config: Config;
  log: Log;
  clock: Clock;
  redis: Redis;
  model: ReadModel;
  follower: Pick<Follower, "seq" | "asOf">;
}): () => Promise<void> {
  const { config, log, clock, redis, model, follower } = deps;
  const { redisPrefix: prefix, dumpMaxAgeMs, slotMs, statusLifetimeMs: lifetimeMs } = config;
  const asked = createAskedSets(redis, prefix, config.askedSets);
  const sizes = new Map<string, number>();

  /** Renews the set's dump when its content has changed or it has become too old; true when it was stored. */
  const keep = async (set: DumpSet): Promise<boolean> => {
    const name = setName(set);
    const store = createDumpStore(redis, prefix, dumpMaxAgeMs * 5, name);
    const stored = await store.head();
    const now = clock();
    if (stored !== null && sizes.has(name)) {
      // The other snapshots process was faster.
      if (now - stored.builtAtMs < slotMs / 2 && stored.seq >= follower.seq()) return false;
      const whole = model.whole(now, set.filters);
      const same = stored.count === whole.count && stored.sum === whole.sum;
      if (same && now - stored.builtAtMs < dumpMaxAgeMs - slotMs / 2) return false;
    }
    const given = { model, seq: follower.seq(), asOfMs: follower.asOf(now), now, lifetimeMs };
    const dump = await buildSetDump(set, given);
    sizes.set(name, dump.gzip.length + dump.br.length);
    return store.save(dump);
  };

  return async () => {
    const startedAt = clock();
    const sets = await asked.recent(startedAt);
    let bytes = 0;
    let made = 0;
    let kept = 0;
    for (const set of sets) {
      if (clock() - startedAt > slotMs / 2 || bytes > config.askedSetsBytes) break;
      if (await keep(set)) made += 1;
      bytes += sizes.get(setName(set)) ?? 0;
      kept += 1;
    }
    const names = new Set(sets.map(setName));
    for (const name of sizes.keys()) if (!names.has(name)) sizes.delete(name);
    if (made > 0)
      log.info({ made, kept, asked: sets.length, bytes, ms: clock() - startedAt }, "sets made");
  };
}
