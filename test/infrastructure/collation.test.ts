import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { migrate } from "#src/infrastructure/migrate.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { until } from "#test/flow/client.ts";
import { withAdmin } from "#test/harness/database.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { hold } from "#test/harness/leaks.ts";
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

  it("is named by /readyz, the metrics and an alarm until the lines of the manual were run", async () => {
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
    await db.raw(`reindex database concurrently ${name}`);
    await db.raw(`alter database ${name} refresh collation version`);
    await db.destroy();
    const healed = await until(checked, ({ ok }) => ok);
    expect(healed.detail).to.equal("takes writes");
  });
});
