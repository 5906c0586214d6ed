import { hkdfSync, randomBytes } from "node:crypto";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { alreadyRevoked, findKey, type IssuedKey, storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { act, already } from "#src/operators/act.ts";

/** Least and most days for which the old key stays valid. */
export const overlapDays = [1, 30] as const;

/** A younger key cannot be replaced, because each key has its own budget of harmful marks. */
const ageMinMs = dayMs;

/** The answer of a rotation can be repeated for this time, if the new key was not used. */
const repeatMs = hourMs;

/** The result of a rotation: `text` is the new key itself, given only once. */
export interface Rotated {
  key: IssuedKey;
  text: string;
  /** The end of the old key. */
  ends: Date;
}

/**
 * A rotation that may be repeated with the same `requestId`: the new key is derived from the old one's id, `requestId`
 * and the pepper, so that a lost answer can be given again (decisions 8.37). Otherwise as `rotateKey`.
 */
export async function rotateKeyRepeatably(
  { db, pepper }: { db: Db; pepper: string },
  own: { id: number; partnerId: number },
  { days, requestId }: { days: number; requestId: string },
  now: number,
): Promise<Rotated | Refusal> {
  const info = `key rotation ${own.id} ${requestId}`;
  const random = new Uint8Array(hkdfSync("sha256", pepper, "", info, 32));
  const rotated = await rotateKey(db, own, days, now, random);
  if (!isRefusal(rotated)) return rotated;
  return (await madeBefore(db, own, newKey("secret", random), now)) ?? rotated;
}

/** The rotation that has made this key; null without one, or after the time for its answer. */
async function madeBefore(
  db: Db,
  old: { id: number; partnerId: number },
  text: string,
  now: number,
): Promise<Rotated | null> {
  const made = await db("keys")
    .where({ hash: Buffer.from(hashKey(text), "hex"), partner_id: old.partnerId })
    .where({ revoked_at: null, last_used_at: null })
    .where("created_at", ">", new Date(now - repeatMs))
    .first("id");
  if (made === undefined) return null;
  const [key, before] = await Promise.all([findKey(db, made.id), findKey(db, old.id)]);
  if (key === null || before?.expires_at == null) return null;
  return { key, text, ends: before.expires_at };
}

/**
 * Replaces a partner's secret key `id` by a new one with the same settings; the old one ends after `days`
 * (decisions 8.36). It is refused, with `state`, for a key that is `ending`, `new` or `revoked`. In force on every
 * process within 15 s.
 */
export const rotateKey = (
  db: Db,
  { id, partnerId }: { id: number; partnerId: number },
  days: number,
  now: number,
  random: Uint8Array = randomBytes(32),
): Promise<Rotated | Refusal> =>
  act(db, `partner ${partnerId}`, async (tx) => {
    const ends = new Date(now + days * dayMs);
    // A second rotation waits for the lock, and then sees that the key is already ending.
    const [found] = await tx("keys")
      .where({ id, partner_id: partnerId, kind: "secret", revoked_at: null, expires_at: null })
      .where("created_at", "<=", new Date(now - ageMinMs))
      .update({ expires_at: ends, updated_at: tx.raw("server_now()") })
      .returning<{ id: number }[]>("id");
    const old = (await findKey(tx, id))!;
    if (found === undefined) {
      if (old.revoked_at !== null) return alreadyRevoked(id);
      const state = old.expires_at === null ? "new" : "ending";
      return already("key", id, state);
    }
    const { label, ips, confirm_min, reports, mass_no_limit, limited_to, limited_until } = old;
    const settings = { label, ips, confirm_min, reports, mass_no_limit, limited_to, limited_until };
    const text = newKey("secret", random);
    const prefix = keyPrefix(text);
    const made = { partner_id: partnerId, kind: "secret", prefix, hash: hashKey(text) } as const;
    const key = await storeKey(tx, made, settings);
    const details = { partner: partnerId, replaces: id, prefix, ends };
    return { value: { key, text, ends }, action: "key.rotate", subject: `key ${key.id}`, details };
  });
