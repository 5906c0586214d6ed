import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { migrate } from "#src/infrastructure/migrate.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { until } from "#test/flow/client.ts";
import { withAdmin } from "#test/harness/database.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { hold } from "#test/harness/leaks.ts";
import { runOperator } from "#test/harness/operator.ts";
import { provided } from "#test/harness/provided.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";

const log = createLog({ logLevel: "silent" }, "test");

describe("a database whose collation has another version than its indexes", function () {
  const name = `fuelmark_test_${randomBytes(6).toString("hex")}`;
  let instance: TestInstance;
  let env: Record<string, string>;
  let letGo = (): void => undefined;
  const roles: RunningRole[] = [];
  const drop = () =>
    withAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`));

  before(async function () {
    // That of the tests' other databases compares bytes, so it has no version.
    const made = await withAdmin((admin) =>
      admin
        .query(`create database ${name} template template0 locale_provider icu icu_locale 'en'`)
        .then(() => null)
        .catch((error: Error) => error.message),
    );
    if (made !== null) {
      console.log(`      Postgres without ICU: skipped (${made})`);
      this.skip();
    }
    letGo = hold(`database ${name}`, async () => void (await drop()));
    instance = await createTestInstance();
    const url = new URL(provided("TEST_DATABASE_URL"));
    url.pathname = `/${name}`;
    env = { ...instance.env, DATABASE_URL: url.href };
    const db = createDb(loadConfig(env), "test");
    await migrate(db, log);
    await db.destroy();
  });
  after(async () => {
    await Promise.all(roles.map((role) => role.stop()));
    letGo();
    await drop();
    await instance?.drop();
  });

  it("is named by /readyz, the metrics and an alarm until an operator built the indexes anew", async () => {
    const change = "update pg_database set datcollversion = '1.0' where datname = $1";
    await withAdmin((admin) => admin.query(change, [name]));
    const web = await startRole("web", env);
    roles.push(web, await startRole("upkeep", env));
    const get = async (path: string): Promise<string> =>
      (await fetch(`${web.baseUrl}${path}`)).text();
    const checked = async () =>
      (
        JSON.parse(await get("/readyz")) as {
          checks: { database: { ok: boolean; detail: string } };
        }
      ).checks.database;
    const found = await until(checked, ({ ok }) => !ok);
    expect(found.detail).to.match(/^collation version 1\.0, now [\d.]+$/);
    expect(await get("/metrics")).to.match(/^fuelmark_collation_changed 1$/m);
    const db = createDb(loadConfig(env), "test");
    const alarms = await until(
      () => rows<{ kind: string }>(db, "select kind from alarms"),
      (all) => all.length > 0,
    );
    expect(alarms).to.deep.equal([{ kind: "collation-changed" }]);
    // As of an interrupted run.
    await db.raw("create index cities_name_ccnew on cities (name)");
    await db.raw(
      `update pg_index set indisvalid = false where indexrelid = 'cities_name_ccnew'::regclass`,
    );
    const ran = await runOperator(env, "database", "reindex", "--json");
    expect(ran, ran.err).to.include({ code: 0 });
    expect(ran.json.indexes).to.be.greaterThan(10);
    expect(await rows(db, "select to_regclass('cities_name_ccnew') as name")).to.deep.equal([
      { name: null },
    ]);
    await db.destroy();
    const healed = await until(checked, ({ ok }) => ok);
    expect(healed.detail).to.equal("takes writes");
  });

  it("does not get its indexes while a value that must be unique is there twice", async () => {
    const db = createDb(loadConfig(env), "test");
    try {
      const watched = (is: boolean) =>
        db.raw(`update pg_index set indisready = ${is} where indexrelid = 'cities_pkey'::regclass`);
      await watched(false);
      await db.raw(
        `insert into cities (id, source, name, lat, lon)
         select 'rome', 'test', name, 41.9, 12.5 from unnest(array['Rome', 'Roma']) as name`,
      );
      await watched(true);
      const refused = await runOperator(env, "database", "reindex");
      expect(refused).to.include({ code: 1 });
      expect(refused.err).to.include("cities_pkey").and.include("Key (id)=(rome) is duplicated.");
      await db.raw("set enable_indexscan = off");
      await db.raw("delete from cities where name = 'Roma'");
      expect(await runOperator(env, "database", "reindex")).to.include({ code: 0 });
      const sql = "select from pg_index where not indisvalid";
      expect(await rows(db, sql)).to.deep.equal([]);
    } finally {
      await db.destroy();
    }
  });

  it("is rebuilt by one operator at a time", async () => {
    const db = createDb(loadConfig(env), "test", 1);
    try {
      await db.raw(`select pg_advisory_lock(${lockIds.rebuildIndexes})`);
      const refused = await runOperator(env, "database", "reindex");
      expect(refused).to.include({ code: 1 });
      expect(refused.err).to.include("under way");
    } finally {
      await db.destroy();
    }
  });
});
