import { createHmac } from "node:crypto";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { createPartner } from "#src/keys/partners.ts";

type Settings = Pick<Config, "consumerKey" | "reporterPepper" | "baseUrl">;

const partnerName = "Consumer map";
// Each viewer's own (decisions.md 8); mobile networks hide many drivers behind one address.
const limits = { rpm: 1200, daily: 500_000 };

/**
 * The publishable key of the map at `/`: the operator's CONSUMER_KEY, else one that follows from the pepper, so that
 * nothing but its hash has to be stored. Null without either.
 */
export function consumerKey({ consumerKey: given, reporterPepper }: Settings): string | null {
  if (given !== "") return given;
  if (reporterPepper === "") return null;
  return newKey(
    "publishable",
    createHmac("sha256", reporterPepper).update("consumer map").digest(),
  );
}

/**
 * Issues the key of the map at `/` to a partner of its own, unless it was issued before (and perhaps revoked since),
 * or the operator has named another. Part of a release; two at once are safe.
 */
export async function issueConsumerKey(db: Db, config: Settings): Promise<void> {
  const key = config.consumerKey === "" ? consumerKey(config) : null;
  if (key === null) return;
  await inTransaction(db, async (tx) => {
    await tx.raw("select pg_advisory_xact_lock(?)", [lockIds.consumerKey]);
    const known = "select from keys where hash = decode(?, 'hex')";
    if ((await rows(tx, known, [hashKey(key)])).length > 0) return;
    const old = "select id from partners where name = ? order by id limit 1";
    const [partner = await createPartner(tx, { name: partnerName, ...limits })] = await rows<{
      id: number;
    }>(tx, old, [partnerName]);
    const domains = [new URL(config.baseUrl).hostname];
    const { id } = await storeKey(
      tx,
      { partner_id: partner.id, kind: "publishable", prefix: keyPrefix(key), hash: hashKey(key) },
      { label: "the map at /", domains },
    );
    const details = { partner: partner.id, kind: "publishable", domains };
    await logAction(tx, {
      actor: "release",
      action: "key.issue",
      subject: `key ${id}`,
      details,
    });
  });
}
