import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import pg from "pg";
import { createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { createBareDatabase, type TestDatabase } from "#test/harness/database.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { runOperator } from "#test/harness/operator.ts";
import { type RoleProcess, startProcess } from "#test/harness/processes.ts";
import { startRole } from "#test/harness/roles.ts";

// What pg_dump made of a database of the version whose last migration was 0010: three stations, two marks. Its own
// function makes its partitions, as it did there.
const dump = join(import.meta.dirname, "database-0010.sql");

describe("upgrade: a database of an earlier version, by the bundled release role", function () {
  let instance: TestInstance;
  let database: TestDatabase;
  let env: Record<string, string>;
  let client: pg.Client;

  before(async () => {
    // Its Redis keys and its database, with which the upgraded one is compared.
    instance = await createTestInstance();
    database = await createBareDatabase();
    env = { ...instance.env, DATABASE_URL: database.databaseUrl };
    client = new pg.Client({ connectionString: database.databaseUrl });
    await client.connect();
    await client.query(readFileSync(dump, "utf8"));
    await client.query("set search_path = public");
    await client.query("alter table opinions set (autovacuum_vacuum_scale_factor = 0.3)");
  });
  after(async () => {
    await client.end();
    await database.drop();
    await instance.drop();
  });
  const release = async (): Promise<RoleProcess> => {
    const role = await startProcess("release", ["node", "dist/release.js"], env);
    expect(await role.exited, role.lines.join("\n")).to.equal(0);
    return role;
  };

  const ask = async <T extends object>(sql: string): Promise<T[]> =>
    (await client.query<T>(sql)).rows;
  const applied = async (): Promise<string[]> =>
    (await ask<{ name: string }>("select name from knex_migrations order by id")).map(
      ({ name }) => name,
    );
  const had: string[] = [];

  it("goes on where a killed run stopped, also while Postgres still works for that one", async () => {
    had.push(...(await applied()));
    const months = `pg_locks where locktype = 'advisory' and objid = 7166740 and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    await client.query("select pg_advisory_lock(7166740)");
    const killed = await startProcess("release", ["node", "dist/release.js"], env);
    await until(
      () => ask(`select from ${months}`),
      (waiting) => waiting.length === 1,
    );
    await killed.kill9();
    expect((await applied()).at(-1)).to.match(/^0055/);
    expect(await ask("select is_locked from knex_migrations_lock")).to.deep.equal([
      { is_locked: 1 },
    ]);
    const started = release();
    await until(
      () => ask(`select from ${months}`),
      (waiting) => waiting.length === 2,
    );
    await client.query("select pg_advisory_unlock(7166740)");
    await started;
  });

  it("knows the migrations that it has by the same names, adds only what is new, and once", async () => {
    expect(had).to.have.length(9);
    const after = await applied();
    expect(after.slice(0, had.length)).to.deep.equal(had);
    expect((await release()).lines.join("\n")).to.contain("schema is up to date");
    expect(await applied()).to.deep.equal(after);
  });

  it("ends with the schema of a new database", async () => {
    const fresh = new pg.Client({ connectionString: instance.databaseUrl });
    await fresh.connect();
    try {
      expect(await schemaOf(client)).to.deep.equal(await schemaOf(fresh));
    } finally {
      await fresh.end();
    }
  });

  it("lets vacuum come early where rows change most, and keeps an operator's own settings", async () => {
    const { rows } = await client.query<{ name: string; options: string }>(
      `select relname as name, array_to_string(reloptions, ' ') as options
       from pg_class where reloptions::text like '%autovacuum%' order by 1`,
    );
    expect(rows.map(({ name }) => name)).to.deep.equal([
      ...["changes", "mark_keys", "opinions", "station_status"],
    ]);
    expect(rows[2]!.options).to.equal("autovacuum_vacuum_scale_factor=0.3");
  });

  it("begins a status run with what each station serves; the command adds the time before", async () => {
    const runs = async (columns: string): Promise<unknown[]> =>
      (await client.query(`select ${columns} from status_runs r order by station_id, from_at`))
        .rows;
    const began = `station_id, status, to_at,
      from_at > now() - interval '1 hour' and from_at = date_trunc('milliseconds', from_at) as now`;
    expect(await runs(began)).to.deep.equal([
      { station_id: placeOf(0).id, status: "yes", to_at: null, now: true },
      { station_id: placeOf(1).id, status: "no", to_at: null, now: true },
    ]);
    // The dump grows older than what is kept by default.
    const long = { ...env, RETENTION_DAYS: "3650" };
    const rebuilt = await runOperator(long, "runs", "rebuild", "--json");
    expect(rebuilt.json).to.deep.equal({ stations: 2, busy: [] });
    const marked = `station_id, status,
      from_at = (select effective_at from marks m where m.station_id = r.station_id) as marked`;
    expect(await runs(marked)).to.deep.include.members([
      { station_id: placeOf(0).id, status: "yes", marked: true },
      { station_id: placeOf(1).id, status: "no", marked: true },
    ]);
  });

  it("corrects a station that was there before, by hand", async () => {
    const { id } = placeOf(2);
    const edit = ["station", "edit", id, "--brand", "Corrected", "--json"];
    const edited = await runOperator(env, ...edit);
    expect(edited.json.station).to.deep.include({ brand: "Corrected", in_service: true });
    expect(edited.json.station.by_hand.brand).to.equal("Brand");
  });

  it("serves what was there before, and takes marks", async () => {
    const issue = ["key", "issue", "--partner", "2", "--kind", "secret", "--json"];
    const issued = await runOperator(env, ...issue);
    const roles = await Promise.all(["web", "marks"].map((role) => startRole(role, env)));
    const partner = createClient(roles[0]!.baseUrl, issued.json.key as string);
    const { body } = await partner.get(`/stations/${placeOf(1).id}`);
    expect(body.station).to.include({ id: placeOf(1).id, brand: "Brand" });
    expect(body.station.fuel.updated).to.equal("2026-11-22 03:30:28");
    const marked = await partner.mark(placeOf(2), "somebody", { status: "low" });
    expect(marked.body.published).to.include({ outcome: "published", status: "low" });
    await Promise.all(roles.map((role) => role.stop()));
  });
});

/** Columns, indexes, constraints and functions; the partitions of marks left out. */
async function schemaOf(on: pg.Client): Promise<unknown> {
  const ask = async (sql: string): Promise<unknown[]> => (await on.query(sql)).rows;
  const noDays = (column: string): string => `${column} !~ '^marks_\\d{6}'`;
  return {
    columns: await ask(
      `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
       where table_schema = 'public' and ${noDays("table_name")} order by 1, 2`,
    ),
    indexes: await ask(
      `select tablename, indexdef from pg_indexes where schemaname = 'public' and ${noDays("tablename")} order by 2`,
    ),
    constraints: await ask(
      `select conrelid::regclass::text as on_table, pg_get_constraintdef(oid) as says from pg_constraint
       where connamespace = 'public'::regnamespace and ${noDays("conrelid::regclass::text")} order by 1, 2`,
    ),
    functions: await ask(
      `select proname, pg_get_function_arguments(oid) as takes, prosrc from pg_proc
       where pronamespace = 'public'::regnamespace order by 1, 2`,
    ),
  };
}
