import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Follower } from "#src/feed/follower.ts";
import { loadKeys } from "#src/keys/key-info.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { loadCities } from "#snapshots/cities.ts";
import {
  fingerprint,
  type Ledger,
  type ModelSnapshotStore,
  type Surroundings,
} from "#snapshots/dumps/model-snapshot.ts";

/** Keeps the model snapshot up to date: stores one when stations, keys or cities have changed, or it has become old. */
export function createModelDuty(deps: {
  config: Config;
  log: Log;
  clock: Clock;
  db: Db;
  ledger: Ledger;
  follower: Pick<Follower, "seq" | "asOf">;
  store: ModelSnapshotStore;
}): () => Promise<void> {
  const { config, log, clock, db, ledger, follower, store } = deps;
  let around: Surroundings | null = null;

  return async () => {
    const fresh = await readSurroundings(db);
    around = fresh ?? around;
    if (around === null) return;
    const stored = await store.head();
    const now = clock();
    const version = { seq: follower.seq(), asOfMs: follower.asOf(now), builtAtMs: now };
    if (stored?.seq === version.seq && stored.fingerprint === fingerprint(around)) {
      // With the database away nothing is learnt: the time of building says how old the knowledge is.
      const young = now - stored.builtAtMs < config.dumpMaxAgeMs - config.slotMs / 2;
      if (young || fresh === null) return;
    }
    const lines = ledger.lines();
    const kept = await store.save(version, around, lines);
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
