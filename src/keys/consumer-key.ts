import { createHmac } from "node:crypto";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { addKey } from "#src/keys/issued-keys.ts";
import { hashKey, newKey } from "#src/keys/key-text.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { insertPartner } from "#src/keys/partners.ts";
import { act, already } from "#src/operators/act.ts";

type Settings = Pick<Config, "consumerKey" | "reporterPepper" | "baseUrl">;

const partnerName = "Consumer map";
// Limits of each viewer (decisions 8); a mobile network can have many drivers behind one address.
const limits = { rpm: 1200, daily: 500_000 };

/**
 * The publishable key of the map at `/`: the operator's CONSUMER_KEY, else one derived from the pepper, so that only
 * its hash has to be stored. Null without either.
 */
export function consumerKey({ consumerKey: configured, reporterPepper }: Settings): string | null {
  if (configured !== "") return configured;
  if (reporterPepper === "") return null;
  return newKey(
    "publishable",
    createHmac("sha256", reporterPepper).update("consumer map").digest(),
  );
}

/**
 * Issues the key of the map at `/` to a partner of its own, unless it was issued before (and perhaps revoked since), or
 * the operator has named another. It is part of a release; two at once are safe.
 */
export async function issueConsumerKey(
  db: Db,
  config: Settings & Pick<Config, "massNoLimit">,
): Promise<void> {
  const text = config.consumerKey === "" ? consumerKey(config) : null;
  if (text === null) return;
  await act(db, "release", async (tx) => {
    await tx.raw("select pg_advisory_xact_lock(?)", [lockIds.consumerKey]);
    const issued = "select id from keys where hash = decode(?, 'hex')";
    const [key] = await rows<{ id: number }>(tx, issued, [hashKey(text)]);
    if (key !== undefined) return already("key", key.id, "issued");
    const old = "select id from partners where name = ? order by id limit 1";
    const [partner = await insertPartner(tx, { name: partnerName, ...limits })] = await rows<{
      id: number;
    }>(tx, old, [partnerName]);
    return addKey(
      tx,
      { partner_id: partner.id, kind: "publishable", text },
      {
        label: "the map at /",
        domains: [new URL(config.baseUrl).hostname],
        mass_no_limit: config.massNoLimit,
      },
    );
  });
}
