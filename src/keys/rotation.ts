import { randomBytes } from "node:crypto";
import { dayMs } from "#src/domain/units.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { alreadyRevoked, findKey, type IssuedKey, storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { act, type NotDone } from "#src/operators/act.ts";

/** For how many days the old key may go on: at least, at most. */
export const overlapDays = [1, 30] as const;

/** A key that is younger cannot be replaced: each key has a budget of harmful marks of its own. */
const ageMinMs = dayMs;

/** What has become of a key: `text` is the new key itself, given this once. */
export interface Rotated {
  key: IssuedKey;
  text: string;
  /** When the old key ends. */
  ends: Date;
}

/**
 * A partner replaces the secret key `id` by a new one with the same settings; the old one ends after `days`
 * (docs/decisions.md 8.36). Not done, with `state`: the key has an `ending`, or is `new` or `revoked`. In force on every
 * process within 15 s.
 */
export const rotateKey = (
  db: Db,
  { id, partnerId }: { id: number; partnerId: number },
  days: number,
  now: number,
): Promise<Rotated | NotDone> =>
  act(db, `partner ${partnerId}`, async (tx) => {
    const ends = new Date(now + days * dayMs);
    // Who comes second waits here, and finds an end.
    const [found] = await tx("keys")
      .where({ id, partner_id: partnerId, kind: "secret", revoked_at: null, expires_at: null })
      .where("created_at", "<=", new Date(now - ageMinMs))
      .update({ expires_at: ends, updated_at: tx.raw("server_now()") })
      .returning<{ id: number }[]>("id");
    const old = (await findKey(tx, id))!;
    if (found === undefined) {
      if (old.revoked_at !== null) return alreadyRevoked(id);
      const state = old.expires_at === null ? "new" : "ending";
      return { notDone: "already", what: "key", id, state };
    }
    const { label, ips, confirm_min, reports, mass_no_limit, limited_to, limited_until } = old;
    const settings = { label, ips, confirm_min, reports, mass_no_limit, limited_to, limited_until };
    const text = newKey("secret", randomBytes(32));
    const prefix = keyPrefix(text);
    const made = { partner_id: partnerId, kind: "secret", prefix, hash: hashKey(text) } as const;
    const key = await storeKey(tx, made, settings);
    const details = { partner: partnerId, replaces: id, prefix, ends };
    return { value: { key, text, ends }, action: "key.rotate", subject: `key ${key.id}`, details };
  });
