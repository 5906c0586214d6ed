import { LRUCache } from "lru-cache";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { type KeyInfo, loadKeys } from "#src/keys/key-info.ts";

const absentMs = 30_000;
const absentMax = 10_000;
const batchMax = 500;

interface Waiting {
  hash: string;
  resolve: (key: KeyInfo | null) => void;
  reject: (error: unknown) => void;
}

/**
 * Looks up keys that are not in memory yet. Anybody can forge a key's checksum, so this must be cheap under a flood:
 * one query runs at a time, for all keys that came during the last one, and absent keys are remembered.
 */
export function createKeyLookup(db: Db, clock: Clock) {
  const absent = new LRUCache<string, number>({ max: absentMax });
  let waiting: Waiting[] = [];
  let busy = false;

  const run = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax);
      waiting = waiting.slice(batchMax);
      try {
        const found = new Map(await loadKeys(db, [...new Set(batch.map(({ hash }) => hash))]));
        for (const { hash, resolve } of batch) {
          const key = found.get(hash) ?? null;
          if (key === null) absent.set(hash, clock() + absentMs);
          resolve(key);
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    busy = false;
  };

  return {
    /** The key with this hash, or null. Rejects when Postgres is away. */
    lookUp(hash: string): Promise<KeyInfo | null> {
      const until = absent.peek(hash);
      if (until !== undefined && until > clock()) return Promise.resolve(null);
      return new Promise((resolve, reject) => {
        waiting.push({ hash, resolve, reject });
        void run();
      });
    },
    /** Forgets which keys were absent. */
    forget: () => absent.clear(),
  };
}
