import type { Knex } from "knex";
import { migrations } from "#migrations/list.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { versionFault, versionSql } from "#src/infrastructure/schema-fault.ts";

const source: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve(Object.keys(migrations).sort()),
  getMigrationName: (name) => name,
  getMigration: async (name) => {
    const migration = migrations[name];
    if (migration === undefined) throw new Error(`no migration ${name}`);
    return migration;
  },
};

/**
 * Brings the database to the newest schema. Several at once are safe: one migrates, the others wait for it. Throws when
 * a migration fails; its work is rolled back, and that of those before it stays. Throws with a sentence for the operator
 * when Postgres is too old, or a newer version has migrated this database already.
 */
export async function migrate(db: Db, log: Log): Promise<void> {
  // A session lock outlives knex's own transactions; it goes with the connection if this process dies.
  await db.transaction(async (tx) => {
    await tx.raw("set local idle_in_transaction_session_timeout = 0");
    await tx.raw("set local lock_timeout = 0");
    // The other may copy marks for hours.
    await tx.raw("set local statement_timeout = 0");
    const waiting = tx.raw("select pg_advisory_xact_lock(?)", [lockIds.migrate]);
    await waiting.options({ query_timeout: 2 ** 31 - 1 });
    const [server] = await rows<{ version: number }>(tx, versionSql);
    const fault = versionFault(server!.version);
    if (fault !== null) throw new Error(`${fault}: nothing was changed`);
    await refuseNewer(tx);
    // knex's own lock is a row, which a killed run leaves locked; ours keeps others away.
    await db.migrate.forceFreeMigrationsLock({ migrationSource: source });
    const applied: string[] = [];
    for (let done = await next(db); done.length > 0; done = await next(db)) applied.push(...done);
    log.info({ applied }, applied.length === 0 ? "schema is up to date" : "schema migrated");
  });
}

/** Runs one migration, so that it commits together with its record, and gives its name; empty when none is left. */
async function next(db: Db): Promise<string[]> {
  const [, names] = (await db.migrate.up({ migrationSource: source })) as [number, string[]];
  return names;
}

/** Refuses a database of a newer version; knex would call the folder of migrations corrupt. */
async function refuseNewer(tx: Tx): Promise<void> {
  const exists = "select to_regclass('knex_migrations') is not null as there";
  const [table] = await rows<{ there: boolean }>(tx, exists);
  if (table?.there !== true) return;
  const applied = await rows<{ name: string }>(tx, "select name from knex_migrations order by id");
  const names = applied.map(({ name }) => name);
  const strange = names.filter((name) => !Object.hasOwn(migrations, name));
  if (strange.length > 0)
    throw new Error(
      `this database is newer than this version, which does not know ${strange.join(", ")}: install the version that made it, or restore a backup from before`,
    );
}
