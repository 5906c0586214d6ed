import { ageOf, isYoung } from "#src/domain/age.ts";
import type { Follower } from "#src/feed/follower.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Quarantine } from "#src/infrastructure/quarantine.ts";
import { type HashedKey, loadKeys } from "#src/keys/key-info.ts";
import { createSharedKeys, type KnownKeys, knownKeys } from "#src/keys/shared-keys.ts";
import { loadCities } from "#snapshots/cities.ts";
import {
  createModelSnapshotStore,
  fingerprint,
  type Ledger,
  type Surroundings,
} from "#snapshots/dumps/model-snapshot.ts";
import type { Duty, RoleDeps } from "#workers/role.ts";
import { keptMsOf } from "#workers/snapshots/whole.ts";

/**
 * Keeps the model snapshot up to date: stores one when stations or cities have changed, and renews only the times of
 * one that has become old. It also shares the keys, without which nobody may read the snapshot.
 */
export function createModelDuty(deps: RoleDeps & { ledger: Ledger; follower: Follower }): Duty {
  const { config, log, clock, db, redis, ledger, follower, quarantine } = deps;
  const store = createModelSnapshotStore(redis, config.redisPrefix, keptMsOf(config));
  const shared = createSharedKeys(redis, config.redisPrefix);
  let surroundings: Surroundings | null = null;
  let keys: KnownKeys | null = null;

  return async () => {
    const at = clock();
    const fresh = await readSurroundings(db, quarantine);
    surroundings = fresh?.surroundings ?? surroundings;
    if (fresh !== null) keys = knownKeys(at, fresh.keys);
    await shared.exchange(keys, clock());
    if (surroundings === null) return;
    const stored = await store.head();
    const now = clock();
    const version = { seq: follower.seq(), asOfMs: follower.asOf(now), builtAtMs: now };
    const around = fingerprint(surroundings);
    if (stored?.seq === version.seq && stored.fingerprint === around) {
      // While the database is away the stored time stays, because it shows the age of the data.
      const young = isYoung(ageOf(stored.builtAtMs, now), config.dumpMaxAgeMs - config.slotMs / 2);
      if (young || fresh === null || (await store.renew(version, around))) return;
    }
    const kept = await store.save(version, surroundings, await ledger.packed());
    const ms = Math.round(clock() - now);
    log.info({ seq: version.seq, ms, kept }, "model snapshot made");
  };
}

/** Null while the database is away. */
async function readSurroundings(
  db: Db,
  quarantine: Quarantine,
): Promise<{ surroundings: Surroundings; keys: HashedKey[] } | null> {
  try {
    const keys = await loadKeys(db, quarantine);
    return { keys, surroundings: { cities: await loadCities(db, quarantine) } };
  } catch {
    return null;
  }
}
