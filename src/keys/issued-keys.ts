import { inTransaction, rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import type { KeyKind } from "#src/keys/key-text.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { announceKeys } from "#src/keys/partners.ts";
import { endSessionsOf } from "#src/operators/sessions.ts";

/** A key as the operator sees it: never its text, which is shown once and not stored. */
export interface IssuedKey {
  id: number;
  partner_id: number;
  kind: KeyKind;
  prefix: string;
  label: string;
  domains: string[];
  ips: string[];
  confirm_min: number;
  reports: boolean;
  mass_no_limit: number;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

export type KeySettings = Pick<
  IssuedKey,
  "label" | "domains" | "ips" | "confirm_min" | "reports"
> & {
  /** Null for never. */
  expires_at: Date | null;
  mass_no_limit: number;
};

const columns = `id, partner_id, kind, prefix, label, domains, ips, confirm_min, reports, mass_no_limit,
  expires_at, revoked_at, last_used_at, created_at`;

/** Stores a new key of a partner that exists; `hash` is `hashKey` of its text. */
export async function storeKey(
  tx: Tx,
  key: { partner_id: number; kind: KeyKind; prefix: string; hash: string },
  settings: Partial<KeySettings>,
): Promise<IssuedKey> {
  const { hash, ...shown } = key;
  const [stored] = await tx("keys")
    .insert({ ...shown, ...settings, hash: Buffer.from(hash, "hex") })
    .returning<IssuedKey[]>(tx.raw(columns) as never);
  await announceKeys(tx);
  if (stored === undefined) throw new Error("an insert gave no row");
  return stored;
}

/** All keys, or those of one partner, revoked ones included. */
export const listKeys = (db: Db | Tx, partnerId?: number): Promise<IssuedKey[]> =>
  rows<IssuedKey>(
    db,
    `select ${columns} from keys where partner_id = coalesce(?::integer, partner_id) order by id`,
    [partnerId ?? null],
  );

export const findKey = async (db: Db | Tx, id: number): Promise<IssuedKey | null> =>
  (await rows<IssuedKey>(db, `select ${columns} from keys where id = ?`, [id]))[0] ?? null;

/** Changes a key's settings; null when there is no such key, or it is revoked. In force within 15 s. */
export async function updateKey(
  tx: Tx,
  id: number,
  changes: Partial<KeySettings>,
): Promise<IssuedKey | null> {
  const [key] = await tx("keys")
    .where({ id, revoked_at: null })
    .update({ ...changes, updated_at: tx.raw("server_now()") })
    .returning<IssuedKey[]>(tx.raw(columns) as never);
  await announceKeys(tx);
  return key ?? null;
}

/**
 * Ends a key for good, ends the dashboard's sessions that were opened with it, and writes down that `actor` did it.
 * Null when there is no such key, or it was revoked before. In force within 15 s, for the dashboard at once.
 */
export const revokeKey = (db: Db, id: number, actor: string): Promise<IssuedKey | null> =>
  inTransaction(db, async (tx) => {
    const sql = `update keys set revoked_at = server_now(), updated_at = server_now()
      where id = ? and revoked_at is null returning ${columns}`;
    const [key] = await rows<IssuedKey>(tx, sql, [id]);
    if (key === undefined) return null;
    await endSessionsOf(tx, "key", id);
    await logAction(tx, { actor, action: "key.revoke", subject: `key ${id}` });
    await announceKeys(tx);
    return key;
  });
