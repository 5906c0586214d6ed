import { randomBytes } from "node:crypto";
import { inTransaction } from "#src/infrastructure/db.ts";
import { storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { insertPartner } from "#src/keys/partners.ts";
import type { Country } from "#test/flow/country.ts";

export interface OtherPartner {
  id: number;
  secret: string;
  publishable: string;
}

/** A further partner of a test country with a key of each kind, and generous limits unless others are given. */
export const addPartner = (
  country: Country,
  limits: { rpm: number; daily: number } = { rpm: 100_000, daily: 100_000_000 },
): Promise<OtherPartner> =>
  inTransaction(country.db, async (tx) => {
    const { id } = await insertPartner(tx, { name: "Another partner", ...limits });
    const issue = async (kind: "secret" | "publishable"): Promise<string> => {
      const key = newKey(kind, randomBytes(32));
      const row = { partner_id: id, kind, prefix: keyPrefix(key), hash: hashKey(key) };
      await storeKey(tx, row, {});
      return key;
    };
    return { id, secret: await issue("secret"), publishable: await issue("publishable") };
  });
