import type { Db } from "#src/infrastructure/db.ts";
import { loadKeys } from "#src/keys/key-info.ts";
import { loadCities } from "#snapshots/cities.ts";
import {
  fingerprint,
  type Ledger,
  type ModelSnapshotStore,
  type Surroundings,
} from "#snapshots/dumps/model-snapshot.ts";
import type { Follower } from "#src/feed/follower.ts";
import { createAskedSets } from "#snapshots/dumps/asked-sets.ts";
import {
  buildDump,
  type DumpHead,
  type DumpSet,
  type DumpSource,
  setName,
  type Whole,
} from "#snapshots/dumps/dump.ts";
import { createDumpStore, type DumpStore } from "#snapshots/dumps/dump-store.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { RoleDeps } from "#workers/role.ts";

type DutyDeps = Pick<RoleDeps, "config" | "log" | "clock"> & {
  model: ReadModel;
  follower: Follower;
};

/** The whole country's dump: made when its content differs from the stored dump's, or that one has become too old. */
export function createDumpDuty(
  deps: DutyDeps & { store: DumpStore },
): (slot: number) => Promise<void> {
  const { config, log, clock, model, follower, store } = deps;

  return async (slot) => {
    // While the database is away a dump of the memory is still useful: time goes on changing it.
    await follower.refresh().catch(() => {});
    const stored = await store.head();
    const now = clock();
    if (stored !== null) {
      if (isFresh(deps, stored, model.whole(now), now)) return;
      // The other snapshots process was faster.
      if (stored.builtAtMs >= (slot + 0.1) * config.slotMs && stored.seq >= follower.seq()) return;
    }
    const dump = await buildDump(sourceAt(deps, now));
    const kept = await store.save(dump);
    const { seq, count, gzip, br } = dump;
    const ms = Math.round(clock() - now);
    log.info({ seq, count, gzip: gzip.length, br: br.length, ms, kept }, "dump made");
  };
}

/**
 * Keeps dumps ready of the sets that were requested in the last hour, the latest request first, within the budgets of
 * bytes and of half a slot's time. The web processes answer the other sets themselves.
 */
export function createSetsDuty(deps: DutyDeps & Pick<RoleDeps, "redis">): () => Promise<void> {
  const { config, log, clock, redis, model, follower } = deps;
  const { redisPrefix: prefix, dumpMaxAgeMs, slotMs } = config;
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
      if (isFresh(deps, stored, model.whole(now, set.filters), now)) return false;
    }
    const dump = await buildDump(sourceAt(deps, now), set);
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

/** True when a stored dump has the content `whole` and need not be renewed in this slot. */
function isFresh({ config }: DutyDeps, stored: DumpHead, whole: Whole, now: number): boolean {
  const isSame = stored.count === whole.count && stored.sum === whole.sum;
  // Half a slot early rather than half a slot late.
  return isSame && now - stored.builtAtMs < config.dumpMaxAgeMs - config.slotMs / 2;
}

const sourceAt = ({ config, model, follower }: DutyDeps, now: number): DumpSource => ({
  ...{ model, seq: follower.seq(), asOfMs: follower.asOf(now), now },
  lifetimeMs: config.statusLifetimeMs,
});

/** Keeps the model snapshot up to date: stores one when stations, keys or cities have changed, or it has become old. */
export function createModelDuty(
  deps: RoleDeps & { ledger: Ledger; follower: Follower; store: ModelSnapshotStore },
): () => Promise<void> {
  const { config, log, clock, db, ledger, follower, store } = deps;
  let surroundings: Surroundings | null = null;

  return async () => {
    const fresh = await readSurroundings(db);
    surroundings = fresh ?? surroundings;
    if (surroundings === null) return;
    const stored = await store.head();
    const now = clock();
    const version = { seq: follower.seq(), asOfMs: follower.asOf(now), builtAtMs: now };
    if (stored?.seq === version.seq && stored.fingerprint === fingerprint(surroundings)) {
      // While the database is away nothing new is known: the time of building shows how old the knowledge is.
      const young = now - stored.builtAtMs < config.dumpMaxAgeMs - config.slotMs / 2;
      if (young || fresh === null) return;
    }
    const lines = ledger.lines();
    const kept = await store.save(version, surroundings, lines);
    const ms = Math.round(clock() - now);
    log.info({ seq: version.seq, stations: lines.length, ms, kept }, "model snapshot made");
  };
}

/** Null while the database is away. */
async function readSurroundings(db: Db): Promise<Surroundings | null> {
  try {
    return { cities: await loadCities(db), keys: await loadKeys(db) };
  } catch {
    return null;
  }
}
