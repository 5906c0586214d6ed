import { ageOf, isYoung } from "#src/domain/age.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Follower } from "#src/feed/follower.ts";
import {
  createDumpBuilder,
  type DumpBuilder,
  type DumpHead,
  type DumpSet,
  type DumpSource,
  setName,
  type Whole,
} from "#snapshots/dumps/dump.ts";
import { createDumpStore, type DumpStore } from "#snapshots/dumps/dump-store.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { Duty, RoleDeps } from "#workers/role.ts";
import { createRequestedSets } from "#snapshots/dumps/requested-sets.ts";
import { fixedSets } from "#snapshots/dumps/fixed-sets.ts";

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

/** A set that is kept, with its compressed parts. */
interface KeptSet {
  store: DumpStore;
  builder: DumpBuilder;
  bytes: number;
  brotli: boolean;
}

/**
 * Keeps the fixed sets ready, and those that are requested repeatedly, the latest request first, within the budgets
 * of bytes and of half a slot's time. The web processes answer the other sets themselves. Brotli, which starts again
 * with each change, is made only for sets that are requested repeatedly.
 */
export function createSetsDuty(
  deps: Pick<RoleDeps, "config" | "log" | "clock" | "redis"> & {
    model: ReadModel;
    follower: Follower;
  },
): Duty {
  const { config, log, clock, redis, model } = deps;
  const requested = createRequestedSets(redis, config.redisPrefix, config.askedSets);
  const known = new Map<string, KeptSet>();

  const enter = (set: DumpSet, name: string): KeptSet => {
    const store = createDumpStore(redis, config.redisPrefix, keptMsOf(config), name);
    const entry = { store, builder: createDumpBuilder(set), bytes: 0, brotli: false };
    known.set(name, entry);
    return entry;
  };

  /** Renews the set's dump when its content has changed or it has become too old; true when it was stored. */
  const renew = async (set: DumpSet, entry: KeptSet, brotli: boolean): Promise<boolean> => {
    const stored = await entry.store.head();
    const now = clock();
    // Another snapshots process may have stored it: its size is known only when it was built here once.
    const isComplete = stored !== null && entry.bytes > 0 && (entry.brotli || !brotli);
    if (isComplete && isFresh(config, stored, model.whole(now, set.filters), now)) return false;
    const dump = await entry.builder.build(sourceAt(deps, now), brotli);
    entry.bytes = dump.gzip.length + dump.br.length;
    entry.brotli = dump.br.length > 0;
    return entry.store.save(dump);
  };

  return async () => {
    const startedAt = clock();
    const repeated = new Map((await requested.kept(startedAt)).map((set) => [setName(set), set]));
    const fixed = fixedSets((filters) => model.whole(startedAt, filters).count);
    const sets = new Map([...fixed.map((set) => [setName(set), set] as const), ...repeated]);
    // Their compressed parts go too.
    for (const name of known.keys()) if (!sets.has(name)) known.delete(name);
    let bytes = 0;
    let made = 0;
    let kept = 0;
    for (const [name, set] of sets) {
      if (clock() - startedAt > config.slotMs / 2 || bytes > config.askedSetsBytes) break;
      const entry = known.get(name) ?? enter(set, name);
      if (await renew(set, entry, repeated.has(name))) made += 1;
      bytes += entry.bytes;
      kept += 1;
    }
    if (made > 0)
      log.info(
        { made, kept, requested: repeated.size, bytes, ms: clock() - startedAt },
        "sets made",
      );
  };
}
