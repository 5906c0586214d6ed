import { LRUCache } from "lru-cache";
import { Type } from "typebox";
import { createBatcher } from "#src/infrastructure/batcher.ts";
import { ageOf, isOutdated, oldestMs } from "#src/domain/age.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { minuteMs } from "#src/domain/units.ts";
import type { Resources } from "#src/infrastructure/resources.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";
import { hashKey, isKeyText } from "#src/keys/key-text.ts";
import { ConnectionFault } from "#src/infrastructure/faults.ts";
import { type Quarantine, compileShape, stored } from "#src/infrastructure/quarantine.ts";
import { listen, type Listener } from "#src/infrastructure/listen.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Peers } from "#src/infrastructure/peers.ts";
import { createSharedKeys, type KnownKeys, knownKeys } from "#src/keys/shared-keys.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { normalDomain } from "#src/contract/hosts.ts";
import type { Launch } from "#src/keys/partners.ts";

export type KeyStore = ReturnType<typeof createKeyStore>;

interface Deps extends Pick<Resources, "db" | "config" | "log" | "clock" | "redis"> {
  quarantine: Quarantine;
  peers: Peers;
}

/**
 * All keys in memory, refreshed on NOTIFY `keys` and every `keysRefreshMs`, from Postgres and from other processes'
 * reads (decisions 21.16). Their use is saved at the same intervals.
 */
export function createKeyStore({ db, config, log, clock, quarantine, redis, peers }: Deps) {
  const keyLookup = createKeyLookup(db, clock);
  const use = createKeyUse(db, clock);
  const shared = createSharedKeys(redis, config.redisPrefix);
  let keys = new Map<string, KeyInfo>();
  /** The keys by id, made at the first request for one. */
  let byId: Map<number, KeyInfo> | null = null;
  let onRefresh = (): void => {};
  let known: KnownKeys | null = null;
  /** Time of the read by the monotonic clock, because the other clock may be set. */
  let readMs = -Infinity;
  let wasOutdated = false;
  let listener: Listener | null = null;

  /** Time of the read by `clock`, which may have gone back since. */
  const readAt = (): number | null => {
    if (known === null) return null;
    const now = clock();
    return ageOf(known.at, now) >= 0 ? known.at : Math.floor(now - (performance.now() - readMs));
  };
  /** Keys whose rows cannot be read; they stay as they were. */
  const setAside = (): HashedKey[] =>
    [...keys].filter(([, { id }]) => quarantine.has(keysTable, String(id)));
  const take = (found: KnownKeys, ageMs: number): void => {
    if (known === null) log.info({ keys: found.keys.length }, "keys loaded");
    // Replaced even when equal, because keys that `find` has added may be revoked by now.
    keys = new Map([...found.keys, ...setAside()]);
    byId = null;
    keyLookup.forget();
    known = found;
    readMs = performance.now() - Math.max(0, ageMs);
  };
  const load = async (): Promise<void> => {
    // Time of the beginning: the read may miss later changes, and a process may pause before it goes on.
    const [at, began] = [clock(), performance.now()];
    try {
      const found = await loadKeys(db, quarantine);
      take(knownKeys(at, [...found, ...setAside()]), performance.now() - began);
    } catch (error) {
      log.warn({ reason: (error as Error).message, keys: keys.size }, "keys not refreshed");
    }
    refreshed();
    void exchanges.refresh();
  };
  const exchange = async (): Promise<void> => {
    try {
      const own = known === null ? null : { ...known, at: readAt()! };
      const found = await shared.exchange(own, clock());
      // The process's own read may have ended meanwhile.
      if (found !== null && found.at > (readAt() ?? -Infinity)) take(found, clock() - found.at);
    } catch (error) {
      // The connection has logged that Redis is away.
      log.debug({ err: (error as Error).message }, "keys not shared");
    }
    refreshed();
  };
  const everyMs = config.keysRefreshMs;
  const loads = createPolled({ everyMs, look: load });
  // A timer of its own, because a frozen Postgres delays the reads for long.
  const exchanges = createPolled({ everyMs, look: exchange });

  /** True if keys may have been revoked for long without this process knowing (decisions 21.17). */
  const outdated = (): boolean => {
    const now = performance.now();
    // On the path of each request. Without keys in memory each one is looked up.
    if (known === null || now - readMs <= oldestMs) return false;
    const othersAt = Math.max(...peers.others().map(({ postgresAt }) => postgresAt ?? -Infinity));
    return isOutdated({
      ageMs: now - readMs,
      heardMs: now - peers.heardMs(),
      behindMs: othersAt - readAt()!,
    });
  };
  const refreshed = (): void => {
    const isNow = outdated();
    if (isNow && !wasOutdated)
      log.error("others may know of revoked keys: requests with keys get 503");
    if (!isNow && wasOutdated) log.info({ keys: keys.size }, "keys are current again");
    wasOutdated = isNow;
    onRefresh();
  };

  const inForce = (key: KeyInfo): KeyInfo | null => {
    if (key.expiresAt !== null && key.expiresAt <= clock()) return null;
    use.note(key.id);
    return key;
  };

  const writeUse = (everything: boolean): Promise<void> =>
    use.flush(everything).catch((error: unknown) => {
      log.debug({ reason: (error as Error).message }, "uses of keys not written");
    });

  const inMemory = (text: string): KeyInfo | null | undefined => {
    const key = keys.get(hashKey(text));
    if (key !== undefined) return inForce(key);
    return isKeyText(text) ? undefined : null;
  };

  const uses = createPolled({ everyMs, look: () => writeUse(false) });

  return {
    /** The key with this text from memory: null when it is refused, undefined when only `find` can tell. */
    known: inMemory,
    /**
     * The key with this text; null when it is wrong, revoked or expired (decisions 8). Queries Postgres only for
     * a well-formed text that is not in memory; rejects when the query fails.
     */
    async find(text: string): Promise<KeyInfo | null> {
      const here = inMemory(text);
      if (here !== undefined) return here;
      const hash = hashKey(text);
      const key = await keyLookup.lookUp(hash);
      // Kept only after a first read, which limits how long keys are believed.
      if (key !== null && known !== null) {
        keys.set(hash, key);
        byId = null;
      }
      return key === null ? null : inForce(key);
    },
    /** An expired key with this text that is still in memory: it is refused, but its pages may be told why. */
    ended(text: string): KeyInfo | null {
      const key = keys.get(hashKey(text));
      return key === undefined || inForce(key) !== null ? null : key;
    },
    /**
     * The current key of this id, for open connections; null when it is revoked or expired, or this is unknown. Counts
     * as a use.
     */
    current(id: number): KeyInfo | null {
      if (outdated()) return null;
      byId ??= new Map([...keys.values()].map((key) => [key.id, key]));
      const key = byId.get(id);
      return key === undefined ? null : inForce(key);
    },
    /** Calls `listener` after each refresh, even a failed one, because keys also end by time. */
    watch(listener: () => void): void {
      onRefresh = listener;
    },
    /** Loads all keys and follows changes. It tries again by itself while Postgres is away. */
    async start() {
      listener ??= listen(config, log, "keys", () => void loads.refresh());
      void uses.start();
      await Promise.all([loads.start(), exchanges.start()]);
    },
    async stop() {
      await listener?.stop();
      await Promise.all([loads.stop(), exchanges.stop(), uses.stop()]);
      await writeUse(true);
    },
    /** Takes newer keys from other processes. Never rejects. */
    exchange: exchanges.refresh,
    /** True when its keys must not be believed: others have read Postgres since, or have been silent. */
    outdated,
    /** Keys in memory. */
    get size() {
      return keys.size;
    },
    /** Time of the read of Postgres behind them, here or elsewhere, ms; null before the first. */
    get refreshedAt() {
      return readAt();
    },
  };
}

const absentMs = 30_000;
const absentMax = 10_000;
const batchMax = 500;

/**
 * Looks up keys that are not in memory yet. Anybody can forge a key's checksum, so this must be cheap under a flood:
 * one query at a time, for all keys that came during the last one, and absent keys are remembered.
 */
function createKeyLookup(db: Db, clock: Clock) {
  const absent = new LRUCache<string, number>({ maxSize: absentMax, sizeCalculation: () => 1 });
  const lookups = createBatcher<string, KeyInfo | null>({
    ...{ atOnce: 1, max: batchMax },
    run: async (hashes) => {
      const found = new Map(await loadKeysOf(db, [...new Set(hashes)]));
      return hashes.map((hash) => {
        const key = found.get(hash) ?? null;
        // It may be a good key, so its holder must not be told that it is wrong.
        if (found.has(hash) && key === null)
          return new ConnectionFault("the key's row cannot be read");
        if (key === null) absent.set(hash, clock() + absentMs);
        return key;
      });
    },
  });

  return {
    /** The key with this hash, or null. Rejects when Postgres is away. */
    lookUp(hash: string): Promise<KeyInfo | null> {
      const until = absent.peek(hash);
      if (until !== undefined && until > clock()) return Promise.resolve(null);
      return lookups.add(hash);
    },
    /** Forgets the absent keys. */
    forget: () => absent.clear(),
  };
}

const quietMs = minuteMs;

/** The last use of each key, for `key list`, precise to the minute. */
function createKeyUse(db: Db, clock: Clock) {
  const usedAt = new Map<number, number>();
  const writtenAt = new Map<number, number>();

  return {
    /** Notes that a key was used now. It is cheap, because it is called for every request. */
    note: (keyId: number): void => void usedAt.set(keyId, clock()),
    /**
     * Saves the latest use of each key that was not saved within the last minute, or of all (`everything`), in one
     * statement. Rejects when Postgres is away, and keeps unsaved uses.
     */
    async flush(everything: boolean): Promise<void> {
      const now = clock();
      const isDue = (id: number): boolean =>
        everything || now - (writtenAt.get(id) ?? Number.NEGATIVE_INFINITY) >= quietMs;
      const due = [...usedAt].filter(([id]) => isDue(id));
      if (due.length === 0) return;
      const ids = due.map(([id]) => id);
      await rows(
        db,
        // Another process that writes the same key now writes the same time, so locked rows are skipped.
        `update keys k set last_used_at = used.at
         from (select id, ${fromMs.replace("?::bigint", "ms")} as at from unnest(?::int[], ?::bigint[]) as u(id, ms)) as used
         join (select id from keys where id = any(?::int[]) for no key update skip locked) as free using (id)
         where k.id = used.id and (k.last_used_at is null or k.last_used_at < used.at)`,
        [ids, due.map(([, at]) => at), ids],
      );
      for (const [id, at] of due) {
        writtenAt.set(id, now);
        // A use during the save stays for the next one.
        if (usedAt.get(id) === at) usedAt.delete(id);
      }
    },
  };
}

/** A key with its partner's switches and limits, as the key store keeps it in memory. */
export interface KeyInfo {
  id: number;
  kind: "secret" | "publishable";
  partnerId: number;
  domains: readonly string[];
  ips: readonly string[];
  confirmMin: number;
  reports: boolean;
  expiresAt: number | null;
  partner: {
    id: number;
    name: string;
    rpm: number;
    daily: number;
    enabled: boolean;
    bindIps: boolean;
    acceptRemote: boolean;
    /** Seconds that rectangles may be cached; null for the default, 0 for never. */
    cacheTtlS: number | null;
    /** New users in a day; null for the default. */
    newUsersDaily: number | null;
    launch: Launch | null;
  };
}

/** New users that the partner of a key may have in a day, at `now`, ms. */
export function newUsersLimitOf(
  { partner: { newUsersDaily, launch } }: KeyInfo,
  now: number,
  { newReportersDaily }: Pick<Config, "newReportersDaily">,
): number {
  const usual = newUsersDaily ?? newReportersDaily;
  return launch !== null && now < launch.until ? Math.max(usual, launch.newUsers) : usual;
}

/** A key under the hexadecimal SHA-256 of its text. */
export type HashedKey = [hash: string, key: KeyInfo];

type KeyRow = KeyInfo & { hash: string };

const sql = `
  select encode(k.hash, 'hex') as hash, k.id, k.kind, k.partner_id as "partnerId", k.domains, k.ips,
    k.confirm_min as "confirmMin", k.reports, ${msOf("k.expires_at")} as "expiresAt",
    jsonb_build_object('id', p.id, 'name', p.name, 'rpm', p.rpm, 'daily', p.daily, 'enabled', p.enabled,
      'bindIps', p.bind_ips, 'acceptRemote', p.accept_remote, 'cacheTtlS', p.cache_ttl_s,
      'newUsersDaily', p.new_users_daily, 'launch', case when p.launch_until is not null then jsonb_build_object(
        'until', ${msOf("p.launch_until")}, 'newUsers', p.launch_new_users, 'limit', p.launch_limit) end) as partner
  from keys k join partners p on p.id = k.partner_id
  where k.revoked_at is null`;

const { time, text, orNull } = stored;
const count = Type.Integer({ minimum: 0 });
const keyShape = compileShape(
  Type.Object({
    ...{ hash: text, id: count, partnerId: count, kind: Type.Enum(["secret", "publishable"]) },
    ...{ domains: Type.Array(text), ips: Type.Array(text), confirmMin: count },
    ...{ reports: Type.Boolean(), expiresAt: orNull(time) },
    partner: Type.Object({
      ...{ id: count, name: text, rpm: count, daily: count, enabled: Type.Boolean() },
      ...{ bindIps: Type.Boolean(), acceptRemote: Type.Boolean(), cacheTtlS: orNull(count) },
      newUsersDaily: orNull(count),
      launch: orNull(Type.Object({ until: time, newUsers: count, limit: count })),
    }),
  }),
);
/** The name of these rows in the quarantine, where they have their ids. */
const keysTable = "keys";

/** All keys that are not revoked and can be read. Rejects when Postgres is away. */
export async function loadKeys(db: Db, quarantine: Quarantine): Promise<HashedKey[]> {
  const found = await rows<KeyRow>(db, `${sql} order by k.id`);
  return quarantine.sift(keysTable, found, ({ id }) => String(id), keyShape).map(hashedKey);
}

/** The keys of `hashes` that are not revoked; null for an unreadable one. Rejects when Postgres is away. */
async function loadKeysOf(
  db: Db,
  hashes: readonly string[],
): Promise<[hash: string, key: KeyInfo | null][]> {
  const withHash = `${sql} and k.hash in (select decode(h, 'hex') from unnest(?::text[]) as h)`;
  const found = await rows<KeyRow>(db, withHash, [hashes]);
  return found.map((row) => (keyShape(row) === null ? hashedKey(row) : [row.hash, null]));
}

/** The key with this id from the database; null when it is revoked or expired. */
export async function loadKey(db: Db, id: number): Promise<KeyInfo | null> {
  const inForce = `${sql} and (k.expires_at is null or k.expires_at > server_now()) and k.id = ?`;
  const [row] = await rows<KeyRow>(db, inForce, [id]);
  return row === undefined || keyShape(row) !== null ? null : hashedKey(row)[1];
}

const hashedKey = ({ hash, ...key }: KeyRow): HashedKey => {
  const domains = key.domains.map(normalDomain).filter((domain) => domain !== null);
  return [hash, { ...key, domains }];
};
