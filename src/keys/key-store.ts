import { LRUCache } from "lru-cache";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { createKeyUse } from "#src/keys/key-use.ts";
import { hashKey, isKeyText } from "#src/keys/key-text.ts";
import { ConnectionFault } from "#src/infrastructure/faults.ts";
import type { Quarantine } from "#src/infrastructure/quarantine.ts";
import {
  type HashedKey,
  type KeyInfo,
  keysTable,
  loadKeys,
  loadKeysOf,
} from "#src/keys/key-info.ts";
import { listen, type Listener } from "#src/infrastructure/listen.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createNextRun } from "#src/infrastructure/next-run.ts";

export type KeyStore = ReturnType<typeof createKeyStore>;

type Needs = { db: Db; config: Config; log: Log; clock: Clock; quarantine: Quarantine };

/** All keys in memory, refreshed on NOTIFY `keys` and every `keysRefreshMs`; their use is written down as often. */
export function createKeyStore({ db, config, log, clock, quarantine }: Needs) {
  const keyLookup = createKeyLookup(db, clock);
  const use = createKeyUse(db, clock);
  let keys = new Map<string, KeyInfo>();
  /** The same by id, made when somebody asks. */
  let byId: Map<number, KeyInfo> | null = null;
  let onRefresh = (): void => {};
  let refreshedAt: number | null = null;
  let listener: Listener | null = null;
  let timer: NodeJS.Timeout | undefined;

  const load = async (): Promise<void> => {
    try {
      const loaded = new Map(await loadKeys(db, quarantine));
      // A key whose row cannot be read goes on as it was.
      for (const [hash, key] of keys)
        if (quarantine.has(keysTable, String(key.id))) loaded.set(hash, key);
      if (refreshedAt === null) log.info({ keys: loaded.size }, "keys loaded");
      keys = loaded;
      byId = null;
      refreshedAt = clock();
      keyLookup.forget();
    } catch (error) {
      log.warn({ reason: (error as Error).message, keys: keys.size }, "keys not refreshed");
    }
    onRefresh();
  };

  const loads = createNextRun(load);

  const inForce = (key: KeyInfo): KeyInfo | null => {
    if (key.expiresAt !== null && key.expiresAt <= clock()) return null;
    use.note(key.id);
    return key;
  };

  const writeUse = (everything: boolean): Promise<void> =>
    use.flush(everything).catch((error: unknown) => {
      log.debug({ reason: (error as Error).message }, "uses of keys not written");
    });

  const known = (text: string): KeyInfo | null | undefined => {
    const key = keys.get(hashKey(text));
    if (key !== undefined) return inForce(key);
    return isKeyText(text) ? undefined : null;
  };

  return {
    /** The key with this text as far as memory knows: null when it is refused, undefined when `find` must tell. */
    known,
    /**
     * The key with this text; null when it is wrong, revoked or expired (docs/decisions.md 8). Queries Postgres only for
     * a well-formed text that is not in memory; rejects when the query fails.
     */
    async find(text: string): Promise<KeyInfo | null> {
      const here = known(text);
      if (here !== undefined) return here;
      const hash = hashKey(text);
      const key = await keyLookup.lookUp(hash);
      if (key !== null) {
        keys.set(hash, key);
        byId = null;
      }
      return key === null ? null : inForce(key);
    },
    /** The key with this text when its end is over and memory still holds it: it is refused, and its pages may know. */
    ended(text: string): KeyInfo | null {
      const key = keys.get(hashKey(text));
      return key === undefined || inForce(key) !== null ? null : key;
    },
    /** The key of this id as it is now, for what stays open; null when it is revoked or expired. Counts as a use. */
    current(id: number): KeyInfo | null {
      byId ??= new Map([...keys.values()].map((key) => [key.id, key]));
      const key = byId.get(id);
      return key === undefined ? null : inForce(key);
    },
    /** Has `listener` called after each refresh, also one that failed: keys end by time too. */
    watch(listener: () => void): void {
      onRefresh = listener;
    },
    /** Loads all keys and follows changes. Survives Postgres being away: it tries again by itself. */
    async start() {
      listener ??= listen(config, log, "keys", () => void loads.run());
      timer ??= setInterval(() => {
        void loads.run();
        void writeUse(false);
      }, config.keysRefreshMs).unref();
      await loads.run();
    },
    async stop() {
      clearInterval(timer);
      await listener?.stop();
      await loads.idle();
      await writeUse(true);
    },
    /** Takes keys from elsewhere, as long as none could be loaded. */
    preload(found: readonly HashedKey[]) {
      if (refreshedAt !== null) return;
      keys = new Map(found);
      byId = null;
    },
    /** Keys in memory. */
    get size() {
      return keys.size;
    },
    /** When all keys were last read, ms; null before the first time. */
    get refreshedAt() {
      return refreshedAt;
    },
  };
}

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
function createKeyLookup(db: Db, clock: Clock) {
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
        const found = new Map(await loadKeysOf(db, [...new Set(batch.map(({ hash }) => hash))]));
        for (const { hash, resolve, reject } of batch) {
          const key = found.get(hash) ?? null;
          // It may be a good key: its holder must not take it for a wrong one.
          if (found.has(hash) && key === null) {
            reject(new ConnectionFault("the key's row cannot be read"));
            continue;
          }
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
