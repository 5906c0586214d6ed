import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Knex } from "knex";
import type { Db } from "#src/db.ts";
import type { Log } from "#src/log.ts";

const folder = new URL("../migrations/", import.meta.url);

/** Migrations are recorded without their extension, so that compiled and source files are the same to knex. */
const source: Knex.MigrationSource<string> = {
  getMigrations: async () =>
    (await readdir(folder)).filter((name) => /^\d{4}_\w+\.ts$/.test(name)).sort(),
  getMigrationName: (name) => name.replace(/\.ts$/, ""),
  getMigration: (name) => import(fileURLToPath(new URL(name, folder))) as Promise<Knex.Migration>,
};

/**
 * Brings the database to the newest schema. Several at once are safe: one migrates, the others wait for it.
 * Throws when a migration fails; what it had done is rolled back.
 */
export async function migrate(db: Db, log: Log): Promise<void> {
  // A session lock outlives knex's own transactions; it goes with the connection if this process dies.
  await db.transaction(async (tx) => {
    await tx.raw("set local idle_in_transaction_session_timeout = 0");
    await tx.raw("set local lock_timeout = 0");
    await tx.raw("select pg_advisory_xact_lock(7166735)");
    const [, names] = (await db.migrate.latest({ migrationSource: source })) as [number, string[]];
    log.info({ applied: names }, names.length === 0 ? "schema is up to date" : "schema migrated");
  });
}
