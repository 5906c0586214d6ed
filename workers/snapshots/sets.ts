import type { Follower } from "#src/feed/follower.ts";
import { createRequestedSets } from "#snapshots/dumps/requested-sets.ts";
import {
  createDumpBuilder,
  type DumpBuilder,
  type DumpSet,
  setName,
} from "#snapshots/dumps/dump.ts";
import { createDumpStore, type DumpStore } from "#snapshots/dumps/dump-store.ts";
import { fixedSets } from "#snapshots/dumps/fixed-sets.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { Duty, RoleDeps } from "#workers/role.ts";
import { isFresh, keptMsOf, sourceAt } from "#workers/snapshots/whole.ts";

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
