import { randomBytes } from "node:crypto";
import { saveSecrets, secretsOf } from "#demo/secrets.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, inTransaction, rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import { hashKey, keyPrefix, newKey, type KeyKind } from "#src/keys/key-text.ts";

export interface DemoKeys {
  secret: string;
  publishable: string;
}

/**
 * The demo partner's two keys. They are kept with the secrets, since a key is shown only once; when the database
 * does not know them (it is new, or they were revoked), new ones are issued.
 */
export async function demoKeys(env: NodeJS.ProcessEnv, dataDir: string): Promise<DemoKeys> {
  const db = createDb(loadConfig(env), "demo keys", 2);
  try {
    const kept = secretsOf(dataDir).keys;
    if (kept !== undefined && (await areValid(db, kept))) return kept;
    const keys = await inTransaction(db, issue);
    saveSecrets(dataDir, { ...secretsOf(dataDir), keys });
    return keys;
  } finally {
    await db.destroy();
  }
}

async function areValid(db: Db, keys: DemoKeys): Promise<boolean> {
  const found = await rows(
    db,
    `select from keys where revoked_at is null and (expires_at is null or expires_at > server_now())
       and hash in (decode(?, 'hex'), decode(?, 'hex'))`,
    [hashKey(keys.secret), hashKey(keys.publishable)],
  );
  return found.length === 2;
}

async function issue(tx: Tx): Promise<DemoKeys> {
  const [partner] = await rows<{ id: number }>(
    tx,
    "insert into partners (name) values ('Demo partner') returning id",
  );
  if (partner === undefined) throw new Error("an insert gave no row");
  const one = async (kind: KeyKind, domains: readonly string[]): Promise<string> => {
    const key = newKey(kind, randomBytes(32));
    await rows(
      tx,
      `insert into keys (partner_id, kind, prefix, hash, label, domains)
       values (?, ?, ?, decode(?, 'hex'), 'made by npm start', ?::text[])`,
      [partner.id, kind, keyPrefix(key), hashKey(key), domains],
    );
    return key;
  };
  return { secret: await one("secret", []), publishable: await one("publishable", ["localhost"]) };
}
