import { withDb } from "#cli/instance.ts";
import { ExitError, type Output } from "#cli/output.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { hourMs } from "#src/domain/units.ts";
import { logAction } from "#src/operators/operator-log.ts";

/** Building waits for every transaction that uses the table, and reads all of it. */
const patience = { lockTimeoutMs: 24 * hourMs, queryTimeoutMs: 24 * hourMs };

/** Those that sort text by a collation of the operating system or of ICU. */
const indexesSql = `select c.oid::regclass::text as name, i.indisvalid as "isValid"
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relkind = 'i' and c.relnamespace = 'public'::regnamespace and exists (
    select from unnest(i.indcollation) as used (id) join pg_collation on oid = used.id
    where collname not in ('C', 'POSIX'))
  order by pg_relation_size(c.oid), 1`;

/** What an interrupted `reindex concurrently` leaves: the unfinished new index, or the old one. */
const leftover = /_cc(new|old)\d*"?$/;

/**
 * Builds the indexes that sort text anew while the service runs, the smallest first, and records the version of the
 * collation. May be interrupted and run again. Throws `ExitError` when it is under way already, when another user owns
 * the database, and when two rows have a value that must be unique.
 */
export const rebuildIndexes = (out: Output): Promise<{ indexes: number }> =>
  withDb(
    out,
    async (db, _config, progress) => {
      const sql = `select pg_try_advisory_lock(${lockIds.rebuildIndexes}) as ours,
        datdba::regrole::text as owner, pg_has_role(datdba, 'usage') as "isOwner",
        quote_ident(datname) as database from pg_database where datname = current_database()`;
      const [here] = await rows<{
        ours: boolean;
        owner: string;
        isOwner: boolean;
        database: string;
      }>(db, sql);
      const { ours, owner, isOwner, database } = here!;
      if (!ours) throw new ExitError("another `database reindex` is under way", 1);
      if (!isOwner)
        throw new ExitError(
          `only ${owner}, who owns the database, can do this: set its DATABASE_URL`,
          1,
        );
      const all = await rows<{ name: string; isValid: boolean }>(db, indexesSql);
      const isLeft = ({ name, isValid }: { name: string; isValid: boolean }) =>
        !isValid && leftover.test(name);
      for (const { name } of all.filter(isLeft)) await db.raw(`drop index concurrently ${name}`);
      const names = all.filter((one) => !isLeft(one)).map(({ name }) => name);
      for (const [done, name] of names.entries()) {
        progress.show("building indexes", done, names.length);
        await rebuild(db, name);
      }
      progress.show("building indexes", names.length, names.length);
      await db.raw(`alter database ${database} refresh collation version`);
      const value = { indexes: names.length };
      const entry = { action: "database.reindex", subject: "database", details: value };
      await inTransaction(db, (tx) => logAction(tx, { actor: out.actor, ...entry }));
      return value;
    },
    // The lock belongs to one connection.
    { ...patience, connections: 1 },
  );

async function rebuild(db: Db, name: string): Promise<void> {
  try {
    await db.raw(`reindex index concurrently ${name}`);
  } catch (error) {
    const { code, detail } = error as { code?: string; detail?: string };
    if (code !== "23505") throw error;
    throw new ExitError(
      `the index ${name} cannot be built: ${detail} Keep one of these rows: see docs/operations.md, "Another collation"; then run this again`,
      1,
    );
  }
}
