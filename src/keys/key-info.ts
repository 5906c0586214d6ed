import { rows, type Db } from "#src/infrastructure/db.ts";
import { normalDomain } from "#src/contract/hosts.ts";

/** A key with its partner's switches and limits, as the key store keeps it in memory. */
export interface KeyInfo {
  id: number;
  kind: "secret" | "publishable";
  partnerId: number;
  domains: readonly string[];
  ips: readonly string[];
  confirmMin: number;
  reports: boolean;
  massNoLimit: number;
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
  };
}

/** A key under the hexadecimal SHA-256 of its text. */
export type HashedKey = [hash: string, key: KeyInfo];

interface KeyRow {
  hash: string;
  id: number;
  kind: KeyInfo["kind"];
  partner_id: number;
  domains: string[];
  ips: string[];
  confirm_min: number;
  reports: boolean;
  mass_no_limit: number;
  expires_at: Date | null;
  name: string;
  rpm: number;
  daily: number;
  enabled: boolean;
  bind_ips: boolean;
  accept_remote: boolean;
  cache_ttl_s: number | null;
}

const sql = `
  select encode(k.hash, 'hex') as hash, k.id, k.kind, k.partner_id, k.domains, k.ips, k.confirm_min, k.reports,
    k.mass_no_limit, k.expires_at, p.name, p.rpm, p.daily, p.enabled, p.bind_ips, p.accept_remote, p.cache_ttl_s
  from keys k join partners p on p.id = k.partner_id
  where k.revoked_at is null`;

/** All keys that are not revoked, or those of them with one of `hashes`. Rejects when Postgres is away. */
export async function loadKeys(db: Db, hashes?: readonly string[]): Promise<HashedKey[]> {
  const found =
    hashes === undefined
      ? await rows<KeyRow>(db, sql)
      : await rows<KeyRow>(
          db,
          `${sql} and k.hash in (select decode(h, 'hex') from unnest(?::text[]) as h)`,
          [hashes],
        );
  return found.map((row) => [row.hash, keyInfo(row)]);
}

/** The key with this id as the database knows it now; null when it is revoked or expired. */
export async function loadKey(db: Db, id: number): Promise<KeyInfo | null> {
  const inForce = `${sql} and (k.expires_at is null or k.expires_at > server_now()) and k.id = ?`;
  const [row] = await rows<KeyRow>(db, inForce, [id]);
  return row === undefined ? null : keyInfo(row);
}

const keyInfo = (row: KeyRow): KeyInfo => ({
  id: row.id,
  kind: row.kind,
  partnerId: row.partner_id,
  domains: row.domains.map(normalDomain).filter((domain) => domain !== null),
  ips: row.ips,
  confirmMin: row.confirm_min,
  reports: row.reports,
  massNoLimit: row.mass_no_limit,
  expiresAt: row.expires_at?.getTime() ?? null,
  partner: {
    id: row.partner_id,
    name: row.name,
    rpm: row.rpm,
    daily: row.daily,
    enabled: row.enabled,
    bindIps: row.bind_ips,
    acceptRemote: row.accept_remote,
    cacheTtlS: row.cache_ttl_s,
  },
});
