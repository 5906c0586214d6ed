import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Follower } from "#src/feed/follower.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { buildDump } from "#snapshots/dumps/dump.ts";
import type { DumpStore } from "#snapshots/dumps/dump-store.ts";
import type { ReadModel } from "#snapshots/model/model.ts";

/** A dump is made when the content differs from the stored one's, or that one has become too old. */
export function createDumpDuty(deps: {
  config: Config;
  log: Log;
  clock: Clock;
  model: ReadModel;
  follower: Pick<Follower, "refresh" | "seq" | "asOf">;
  store: DumpStore;
}): (slot: number) => Promise<void> {
  const { config, log, clock, model, follower, store } = deps;

  return async (slot) => {
    // With the database away, what is in memory is still worth a dump: time goes on changing it.
    await follower.refresh().catch(() => {});
    const stored = await store.head();
    const now = clock();
    const whole = model.whole(now);
    if (stored !== null) {
      const same = stored.count === whole.count && stored.sum === whole.sum;
      // Half a slot early rather than half a slot late.
      if (same && now - stored.builtAtMs < config.dumpMaxAgeMs - config.slotMs / 2) return;
      // The other snapshots process was faster.
      if (stored.builtAtMs >= (slot + 0.1) * config.slotMs && stored.seq >= follower.seq()) return;
    }
    const given = { model, seq: follower.seq(), asOfMs: follower.asOf(now), now };
    const dump = await buildDump({ ...given, lifetimeMs: config.statusLifetimeMs });
    const kept = await store.save(dump);
    const { seq, count, gzip, br } = dump;
    const ms = Math.round(clock() - now);
    log.info({ seq, count, gzip: gzip.length, br: br.length, ms, kept }, "dump made");
  };
}
