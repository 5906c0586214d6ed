import type { Db } from "#src/infrastructure/db.ts";
import type { Follower } from "#src/feed/follower.ts";
import { loadKeys } from "#src/keys/key-info.ts";
import { loadCities } from "#snapshots/cities.ts";
import {
  fingerprint,
  type Ledger,
  type ModelSnapshotStore,
  type Surroundings,
} from "#snapshots/dumps/model-snapshot.ts";
import type { RoleDeps } from "#workers/role.ts";

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
