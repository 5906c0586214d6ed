import { Type } from "typebox";
import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { compileShape, type Quarantine, stored } from "#src/infrastructure/quarantine.ts";
import { normalDomain } from "#src/contract/hosts.ts";
import type { Launch } from "#src/keys/partners.ts";
import { msOf } from "#src/marks/marks.ts";

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
export const keyShape = compileShape(
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
export const keysTable = "keys";

/** All keys that are not revoked and can be read. Rejects when Postgres is away. */
export async function loadKeys(db: Db, quarantine: Quarantine): Promise<HashedKey[]> {
  const found = await rows<KeyRow>(db, `${sql} order by k.id`);
  return quarantine.sift(keysTable, found, ({ id }) => String(id), keyShape).map(hashedKey);
}

/** The keys of `hashes` that are not revoked; null for an unreadable one. Rejects when Postgres is away. */
export async function loadKeysOf(
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
