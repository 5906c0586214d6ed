import { expect } from "chai";
import pg from "pg";
import { release } from "#demo/release.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createClient, until } from "#test/flow/client.ts";
import { createConsoleClient } from "#test/flow/console-client.ts";
import { openCountry, placeOf } from "#test/flow/country.ts";
import { runOperator } from "#test/harness/operator.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { type OwnServer, startPrivatePostgres } from "#test/harness/servers.ts";

/** Owner and database: the superuser of a private Postgres, and a database of it, are called `fuelmark`. */
const owner = "fuelmark_owner";

describe("a user of the database with few rights", function () {
  this.timeout(180_000);
  let postgres: OwnServer;
  let instance: TestInstance;
  const roles: RunningRole[] = [];
  /** As which user of which database; what is asked for is done on one connection. */
  const as = async <T>(user: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: urlOf(user) });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  const urlOf = (user: string): string => {
    const url = new URL(postgres.url);
    const password = user === owner ? "change-me" : "change-me-too";
    [url.username, url.password, url.pathname] = [user, password, `/${owner}`];
    return url.href;
  };
  const envOf = (user: string): Record<string, string> => ({
    ...instance.env,
    DATABASE_URL: urlOf(user),
  });
  const grant = (by: string, user: string) => runOperator(envOf(by), "database", "grant", user);

  before(async () => {
    postgres = await startPrivatePostgres();
    instance = await createTestInstance();
    const superuser = new pg.Client({ connectionString: postgres.url });
    await superuser.connect();
    try {
      // One by one: a database cannot be created among other statements.
      for (const sql of [
        `create role ${owner} login password 'change-me'`,
        "create role fuelmark_app login password 'change-me-too'",
        `create database ${owner} owner ${owner}`,
        "create role stranger login password 'change-me-too'",
      ])
        await superuser.query(sql);
    } finally {
      await superuser.end();
    }
    await release(envOf(owner));
    expect(await grant(owner, "fuelmark_app")).to.include({ code: 0 });
  });
  after(async () => {
    await Promise.all(roles.map((role) => role.stop()));
    await instance?.drop();
    await postgres?.drop();
  });

  it("can do all that the roles do: a mark is taken, counted and read, and each role finds its work", async () => {
    const country = await openCountry(loadConfig(envOf(owner)), 3);
    try {
      for (const role of ["web", "marks", "snapshots", "webhooks", "imports", "clock"])
        roles.push(await startRole(role, envOf("fuelmark_app")));
      roles.push(await startRole("upkeep", envOf(owner)));
      const client = createClient(roles[0]!.baseUrl, country.secret);
      const answer = await client.mark(placeOf(0), "user-1", { status: "yes", fuels: ["95"] });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      expect(answer.body.published.outcome).to.equal("published");
      const { body } = await client.get(`/stations/${placeOf(0).id}`);
      expect(body.station.fuel).to.include({ status: "yes" });
      const wrong = { name: "nobody", password: "wrong password 1" };
      const failed = await createConsoleClient(roles[0]!.baseUrl).post("/session", wrong);
      expect(failed.status, JSON.stringify(failed.body)).to.equal(401);
      // Of the duties: the dump of `snapshots`, and those of `upkeep`, which `clock` asks for.
      const metrics = () => fetch(`${roles[0]!.baseUrl}/metrics`).then((page) => page.text());
      for (const duty of ["dump", "instants", "failover", "service"])
        await until(metrics, (text) =>
          new RegExp(`last_success_timestamp_seconds\\{duty="${duty}",[^}]*\\} [1-9]`).test(text),
        );
      const denied = roles.flatMap(({ lines }) =>
        lines.filter((line) => /42501|permission denied|must be owner/.test(line)),
      );
      expect(denied).to.deep.equal([]);
    } finally {
      await country.close();
    }
  });

  it("gets its rights from the owner alone, by its name", async () => {
    const refused = await grant(owner, "fuelmark_ap");
    expect(refused).to.include({ code: 1 });
    expect(refused.err).to.include("no user fuelmark_ap").and.include("createuser");
    expect((await grant(owner, owner)).err).to.include("owns the tables");
    expect((await grant("fuelmark_app", "fuelmark_app")).err).to.include(`only ${owner}`);
    expect(await grant(owner, "fuelmark_app"), "twice").to.include({ code: 0 });
    const superuser = new pg.Client({ connectionString: postgres.url });
    await superuser.connect();
    await superuser.query(
      `alter database ${owner} owner to stranger; grant connect on database ${owner} to ${owner}`,
    );
    const warned = await grant(owner, "fuelmark_app");
    await superuser.query(`alter database ${owner} owner to ${owner}`);
    await superuser.end();
    expect(warned).to.include({ code: 1 });
    expect(warned.err).to.include("the database belongs to stranger");
  });

  it("has the time-outs of its statements by itself, as behind a pooler, when it was asked for", async () => {
    const told = await runOperator(envOf("fuelmark_app"), "database", "timeouts", "--json");
    expect(told, told.err).to.include({ code: 0 });
    expect(told.json).to.include({ user: "fuelmark_app", lockTimeoutMs: 60_000 });
    await as("fuelmark_app", async (app) => {
      const { rows } = await app.query("show lock_timeout");
      expect(rows).to.deep.equal([{ lock_timeout: "1min" }]);
    });
    expect((await runOperator(envOf("fuelmark_app"), "database", "reindex")).err).to.include(
      `only ${owner}, who owns the database`,
    );
  });

  it("shares the database with its owner alone", async () => {
    const refused = await as("stranger", async () => null).catch((error: Error) => error);
    expect(refused).to.include({ code: "42501" });
  });

  it("reaches the tables of marks that upkeep makes later", async () => {
    await as(owner, (client) =>
      client.query("select ensure_mark_partitions((now() at time zone 'UTC')::date + 40, 1)"),
    );
    await as("fuelmark_app", async (app) => {
      const { rows } = await app.query<{ name: string; allowed: boolean }>(
        `select relname as name, has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
           and has_table_privilege(oid, 'update') as allowed
         from pg_class where relname ~ '^marks_[0-9]{6}$'`,
      );
      expect(rows.length).to.be.greaterThan(1);
      expect(rows.filter(({ allowed }) => !allowed)).to.deep.equal([]);
    });
  });

  it("cannot change, empty or drop tables, nor what operators have done", async () => {
    await as("fuelmark_app", async (app) => {
      for (const sql of [
        "create table x (y integer)",
        "drop table marks",
        "truncate marks",
        "alter table stations add column x integer",
        "delete from operator_log",
        "update operator_log set actor = 'nobody'",
        "insert into knex_migrations (name) values ('x')",
        "create role x",
        "copy stations to program 'cat'",
      ]) {
        const fault = await app.query(sql).catch((error: { code?: string }) => error);
        expect(fault, sql).to.include({ code: "42501" });
      }
    });
  });
});
