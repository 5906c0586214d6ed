import { ageOf, isYoung } from "#src/domain/age.ts";
import type { Follower } from "#src/feed/follower.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Quarantine } from "#src/infrastructure/quarantine.ts";
import { type HashedKey, loadKeys } from "#src/keys/key-store.ts";
import { createSharedKeys, type KnownKeys, knownKeys } from "#src/keys/shared-keys.ts";
import { type City, loadCities } from "#snapshots/cities.ts";
import {
  createModelSnapshotStore,
  type Ledger,
  sumOfCities,
} from "#snapshots/dumps/model-snapshot.ts";
import type { Duty, RoleDeps } from "#workers/role.ts";
import { keptMsOf } from "#workers/snapshots/dumps.ts";

/**
 * Keeps the model snapshot up to date: stores one when stations or cities have changed, or the last has become old. It
 * also shares the keys, without which nobody may read the snapshot.
 */
export function createModelDuty(deps: RoleDeps & { ledger: Ledger; follower: Follower }): Duty {
  const { config, log, clock, db, redis, ledger, follower, quarantine } = deps;
  const store = createModelSnapshotStore(redis, config.redisPrefix, keptMsOf(config));
  const shared = createSharedKeys(redis, config.redisPrefix);
  let cities: City[] | null = null;
  let keys: KnownKeys | null = null;

  return async () => {
    const at = clock();
    const fresh = await readDatabase(db, quarantine);
    cities = fresh?.cities ?? cities;
    if (fresh !== null) keys = knownKeys(at, fresh.keys);
    await shared.exchange(keys, clock());
    if (cities === null) return;
    const stored = await store.head();
    const now = clock();
    const version = { seq: follower.seq(), asOfMs: follower.asOf(now), builtAtMs: now };
    if (stored?.seq === version.seq && stored.cities === sumOfCities(cities)) {
      // While the database is away the stored time stays, because it shows the age of the data.
      const young = isYoung(ageOf(stored.builtAtMs, now), config.dumpMaxAgeMs - config.slotMs / 2);
      if (young || fresh === null) return;
    }
    const kept = await store.save(version, cities, await ledger.packed());
    const ms = Math.round(clock() - now);
    log.info({ seq: version.seq, ms, kept }, "model snapshot made");
  };
}

/** Null while the database is away. */
async function readDatabase(
  db: Db,
  quarantine: Quarantine,
): Promise<{ cities: City[]; keys: HashedKey[] } | null> {
  try {
    const keys = await loadKeys(db, quarantine);
    return { keys, cities: await loadCities(db, quarantine) };
  } catch {
    return null;
  }
}
