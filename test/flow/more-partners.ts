import { randomBytes } from "node:crypto";
import { inTransaction } from "#src/infrastructure/db.ts";
import { storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { insertPartner } from "#src/keys/partners.ts";
import type { Country } from "#test/flow/country.ts";

export interface OtherPartner {
  id: number;
  /** Of the secret key. */
  keyId: number;
  secret: string;
  publishable: string;
}

/** A further partner of a test country with a key of each kind, and generous limits unless others are given. */
export const addPartner = (
  { db }: Pick<Country, "db">,
  limits: { rpm: number; daily: number } = { rpm: 100_000, daily: 100_000_000 },
  name = "Another partner",
): Promise<OtherPartner> =>
  inTransaction(db, async (tx) => {
    const { id } = await insertPartner(tx, { name, ...limits });
    const issue = async (kind: "secret" | "publishable") => {
      const text = newKey(kind, randomBytes(32));
      const row = { partner_id: id, kind, prefix: keyPrefix(text), hash: hashKey(text) };
      return { text, id: (await storeKey(tx, row, {})).id };
    };
    const [secret, publishable] = [await issue("secret"), await issue("publishable")];
    return { id, keyId: secret.id, secret: secret.text, publishable: publishable.text };
  });
