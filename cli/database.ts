import { Command } from "commander";
import { byOf } from "#cli/act-verb.ts";
import { dropRectangles } from "#cli/with-queues.ts";
import { consent, line, verb, yesOption } from "#cli/command.ts";
import { rebuildIndexes } from "#cli/database-indexes.ts";
import { withDb } from "#cli/instance.ts";
import { card, ExitError, type Output } from "#cli/output.ts";
import { noteDatabase, markAllChanged } from "#src/feed/database-identity.ts";
import { idsOfSource, saveStations } from "#src/import/apply-stations.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Tx } from "#src/infrastructure/db.ts";
import { act, type Done } from "#src/operators/act.ts";
import { splitStation } from "#src/stations/join-stations.ts";

/** `operator database …`: the last step of a restore, users, a pooler, another collation (docs/operations.md). */
export function databaseCommand(output: () => Output): Command {
  const command = new Command("database").description("the database as a whole");
  verb(
    command,
    "restored",
    "run after restoring a backup: marks all stations as changed, so that everyone reads them again",
    "database restored",
  ).action(async () => {
    const out = output();
    const stamped = await withDb(out, async (db, config, progress) => {
      const value = await markAllChanged(db, (count, total) =>
        progress.show("marking as changed", count, total),
      );
      await dropRectangles(config);
      const entry = { action: "database.restored", subject: "database", details: value };
      return act(db, out.actor, async (tx) => {
        await noteDatabase(tx);
        return { value, ...entry };
      });
    });
    out.result({ ...stamped }, card);
  });
  verb(
    command,
    "grant",
    "let another user of Postgres read and write rows and nothing else; run as the owner of the tables, after the release and after a restore",
    "database grant fuelmark_app",
  )
    .argument("<user>", "the user's name in Postgres", line(63, "not empty"))
    .action(async (user: string) => {
      const out = output();
      const done = await withDb(out, (db) => act(db, out.actor, (tx) => grantRows(tx, user)));
      out.result(done, card);
    });
  verb(
    command,
    "timeouts",
    "behind a pooler: limit this user's statements outside of transactions too; run once with the DATABASE_URL of each user",
    "database timeouts",
  ).action(async () => {
    const out = output();
    const done = await withDb(out, (db, config) =>
      act(db, out.actor, (tx) => limitStatements(tx, config)),
    );
    out.result(done, card);
  });
  verb(
    command,
    "reindex",
    "build all indexes of text anew while the service runs, after the alarm collation-changed",
    "database reindex",
  ).action(async () => {
    const out = output();
    out.result(await rebuildIndexes(out), card);
  });
  return command;
}

/** Makes the time-outs of this user's connections its defaults, which a pooler cannot leave out (decisions 16.27). */
async function limitStatements(
  tx: Tx,
  { queryTimeoutMs, lockTimeoutMs }: Config,
): Promise<Done<{ user: string }>> {
  const [caller] = await rows<{ user: string }>(tx, 'select current_user as "user"');
  for (const [name, value] of [
    ["timezone", "UTC"],
    ["statement_timeout", queryTimeoutMs],
    ["lock_timeout", lockTimeoutMs],
    ["idle_in_transaction_session_timeout", lockTimeoutMs],
  ])
    await tx.raw(`alter role current_user set ${name} = '${value}'`);
  const value = { ...caller!, queryTimeoutMs, lockTimeoutMs };
  return { value, action: "database.timeouts", subject: "database", details: value };
}

type Parties = Record<"name" | "owner" | "caller" | "database" | "master", string>;

/** Grants what every role but `upkeep` needs, also on tables that come later, and nothing to anyone else. Throws `ExitError`. */
async function grantRows(tx: Tx, user: string): Promise<Done<{ user: string }>> {
  const sql = `select coalesce(to_regrole(quote_ident(?))::text, '') as name, relowner::regrole::text as owner,
    quote_ident(current_user) as caller, quote_ident(datname) as database,
    case when pg_has_role(datdba, 'usage') then '' else datdba::regrole::text end as master
    from pg_class c, pg_database where c.oid = 'operator_log'::regclass and datname = current_database()`;
  const { name, owner, caller, database, master } = (await rows<Parties>(tx, sql, [user]))[0]!;
  if (caller !== owner)
    throw new ExitError(`only ${owner}, who owns the tables, can do this: set its DATABASE_URL`, 1);
  if (name === "")
    throw new ExitError(`Postgres has no user ${user}: create it first (createuser --pwprompt)`, 1);
  if (name === owner)
    throw new ExitError(`${user} owns the tables: name the user that the other roles have`, 1);
  // Postgres would only warn.
  if (master !== "")
    throw new ExitError(
      `the database belongs to ${master}: alter database ${database} owner to ${owner}`,
      1,
    );
  await tx.raw(`revoke all on database ${database} from public;
    grant connect on database ${database} to ${name};
    grant usage on schema public to ${name};
    grant select, insert, update, delete on all tables in schema public to ${name};
    grant usage, select on all sequences in schema public to ${name};
    revoke insert, update, delete on knex_migrations, knex_migrations_lock from ${name};
    revoke update, delete on operator_log from ${name};
    alter default privileges in schema public
      grant select, insert, update, delete on tables to ${name};
    alter default privileges in schema public grant usage, select on sequences to ${name}`);
  return { value: { user }, action: "database.grant", subject: "database", details: { user } };
}

const partsOfDemo = `select station_id as id from station_pairs join stations on id = into_id
   where verdict = 'joined' and source = 'demo' and not gone`;

/** `operator demo remove`: removes the demo country when real data has come. */
export function demoCommand(output: () => Output): Command {
  const command = new Command("demo").description("the demo country");
  verb(
    command,
    "remove",
    "take the demo stations out of service and remove the demo cities",
    "demo remove",
  )
    .option(...yesOption)
    .action(async ({ yes }: { yes?: boolean }) => {
      const out = output();
      await consent(out, yes, "Remove the demo country permanently?", "nothing removed");
      const removed = await withDb(out, async (db, config, progress) => {
        // Former versions joined real stations with the demo's: they stay on the map.
        const by = await byOf(out, db, config);
        for (const { id } of await rows<{ id: string }>(db, partsOfDemo))
          await splitStation(by, {}, id);
        const ids = [...(await idsOfSource(db, "demo")).inService];
        const { removed: stations } = await saveStations(db, "demo", { gone: ids }, false, (done) =>
          progress.show("removing", done, ids.length),
        );
        await dropRectangles(config);
        return act(db, out.actor, async (tx) => {
          const cities = await rows(tx, "delete from cities where source = 'demo' returning id");
          await tx.raw("select pg_notify('cities', '')");
          const value = { stations, cities: cities.length };
          return { value, action: "demo.remove", subject: "demo country", details: value };
        });
      });
      out.result(removed, card);
    });
  return command;
}
