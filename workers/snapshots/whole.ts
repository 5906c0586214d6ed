import { ageOf, isYoung } from "#src/domain/age.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Follower } from "#src/feed/follower.ts";
import {
  createDumpBuilder,
  type DumpHead,
  type DumpSource,
  type Whole,
} from "#snapshots/dumps/dump.ts";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { Duty, RoleDeps } from "#workers/role.ts";

type DumpDeps = Pick<RoleDeps, "config" | "clock"> & { model: ReadModel; follower: Follower };

/** The whole country's dump: made when its content differs from the stored dump's, or that dump is too old. */
export function createDumpDuty(deps: DumpDeps & Pick<RoleDeps, "log" | "redis">): Duty {
  const { config, log, clock, redis, model, follower } = deps;
  const store = createDumpStore(redis, config.redisPrefix, keptMsOf(config));
  const builder = createDumpBuilder();

  return async () => {
    // A dump of the memory is still useful while the database is away, because statuses expire.
    await follower.refresh().catch(() => {});
    const stored = await store.head();
    const now = clock();
    if (stored !== null && isFresh(config, stored, model.whole(now), now)) return;
    const dump = await builder.build(sourceAt(deps, now), true);
    const kept = await store.save(dump);
    const { seq, count, gzip, br } = dump;
    const ms = Math.round(clock() - now);
    log.info({ seq, count, gzip: gzip.length, br: br.length, ms, kept }, "dump made");
  };
}

/** Long enough for a slow release, short enough to get rid of a dump from a database that was restored. */
export const keptMsOf = ({ dumpMaxAgeMs }: Config): number => dumpMaxAgeMs * 5;

/** True when a stored dump has the content `whole` and need not be renewed in this slot. */
export function isFresh(config: Config, stored: DumpHead, whole: Whole, now: number): boolean {
  const isSame = stored.count === whole.count && stored.sum === whole.sum;
  // It is renewed half a slot early rather than half a slot late.
  return isSame && isYoung(ageOf(stored.builtAtMs, now), config.dumpMaxAgeMs - config.slotMs / 2);
}

export const sourceAt = ({ config, model, follower }: DumpDeps, now: number): DumpSource => ({
  ...{ model, seq: follower.seq(), asOfMs: follower.asOf(now), now },
  lifetimeMs: config.statusLifetimeMs,
});
