import { expect } from "chai";
import pg from "pg";
import { release } from "#demo/release.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createClient, until } from "#test/flow/client.ts";
import { openCountry, placeOf } from "#test/flow/country.ts";
import { createBareDatabase, withAdmin } from "#test/harness/database.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { runOperator } from "#test/harness/operator.ts";
import { findBouncer, startBouncer } from "#test/harness/pgbouncer.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";

/** What an administrator may have set for other programs. */
const hostile: Record<string, string> = {
  default_transaction_isolation: "serializable",
  default_transaction_deferrable: "on",
  datestyle: "German, DMY",
  intervalstyle: "iso_8601",
  bytea_output: "escape",
  extra_float_digits: "-10",
  standard_conforming_strings: "off",
  array_nulls: "off",
  transform_null_equals: "on",
  timezone: "Asia/Kathmandu",
  idle_session_timeout: "1s",
};

async function setDefaults(databaseUrl: string): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1);
  await withAdmin(async (admin) => {
    for (const [setting, value] of Object.entries(hostile))
      await admin.query(`alter database ${name} set ${setting} = ${pg.escapeLiteral(value)}`);
  });
}

describe("fault: a database with defaults of another program", function () {
  this.timeout(180_000);
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  const later = <T>(made: T, close: (one: T) => Promise<unknown>): T => {
    closing.push(() => close(made));
    return made;
  };

  it("is migrated, takes marks, gives them out and does what an operator asks", async () => {
    const instance = later(await createTestInstance(), (one) => one.drop());
    const bare = later(await createBareDatabase(), (one) => one.drop());
    await setDefaults(bare.databaseUrl);
    const env = { ...instance.env, DATABASE_URL: bare.databaseUrl };
    await release(env);
    const country = later(await openCountry(loadConfig(env), 6), (one) => one.close());
    const roles: RoleProcess[] = [];
    later(roles, (all) => Promise.all(all.map((role) => role.stop())));
    for (const role of ["web", "marks", "snapshots", "upkeep", "clock"])
      roles.push(await startRoleProcess(role, env));
    const web = createClient(roles[0]!.baseUrl, country.secret);
    const before = Date.now();
    const marks = await Promise.all(
      [0, 1, 2, 3, 4].map((n) => web.mark(placeOf(n), `user-${n}`, { status: "low" })),
    );
    expect(marks.map(({ body }) => body.published?.outcome)).to.deep.equal(
      marks.map(() => "published"),
    );
    for (const [n, { body }] of marks.entries()) {
      const read = await web.get(`/stations/${placeOf(n).id}`);
      expect(read.body.station.fuel).to.deep.equal(body.fuel);
      expect(read.body.station).to.include({ lat: placeOf(n).lat, lon: placeOf(n).lon });
      expect(Date.parse(read.body.station.fuel.updated)).to.be.within(before - 2000, Date.now());
    }
    const all = await until(
      () => web.get("/stations/all"),
      ({ body }) =>
        (body.stations as { fuel: { status: string } }[]).filter(
          ({ fuel }) => fuel.status === "low",
        ).length === 5,
    );
    expect(all.status).to.equal(200);
    const asked = await runOperator(env, "partner", "list", "--json");
    expect(asked.code, asked.err).to.equal(0);
    const restored = await runOperator(env, "database", "restored", "--json");
    expect(restored.json).to.include({ stations: 6 });
    const log = await runOperator(env, "log", "list", "--json");
    expect(JSON.stringify(log.json)).to.include("database.restored");
    // Without its own setting the connection would have ended by now, and again every second.
    const lost = roles.flatMap(({ lines }) => lines.filter((line) => line.includes("lost the")));
    expect(lost).to.deep.equal([]);
  });

  it("stamps changes one after the other in transactions that wait for each other", async () => {
    const instance = later(await createTestInstance(), (one) => one.drop());
    await setDefaults(instance.databaseUrl);
    await expectOrder(instance.env);
  });

  it("does so behind a pooler too", async function () {
    if ((await findBouncer()) === null) {
      console.log("      no pgbouncer on PATH, and apt-get has none: skipped");
      this.skip();
    }
    const instance = later(await createTestInstance(), (one: TestInstance) => one.drop());
    await setDefaults(instance.databaseUrl);
    const bouncer = later(await startBouncer(instance.databaseUrl, "transaction"), (one) =>
      one.drop(),
    );
    const urls = { DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: instance.databaseUrl };
    await expectOrder({ ...instance.env, ...urls });
  });

  async function expectOrder(env: Record<string, string>): Promise<void> {
    const config = loadConfig(env);
    const country = later(await openCountry(config, 2), (one) => one.close());
    const db = later(createDb(config, "test", 4), (one) => one.destroy());
    const shown = await db.transaction((tx) => rows(tx, "show transaction_isolation"));
    expect(shown).to.deep.equal([{ transaction_isolation: "read committed" }]);
    const inner = await db.transaction((tx) => rows(tx, "show transaction_isolation"), {
      isolationLevel: "repeatable read",
      readOnly: true,
    });
    expect(inner).to.deep.equal([{ transaction_isolation: "repeatable read" }]);
    const stamp = (id: string) =>
      db.transaction(async (tx) => {
        await rows(tx, "select count(*) from changes");
        await rows(tx, "select feed_stamp(?::text[])", [[id]]);
      });
    await Promise.all(Array.from({ length: 20 }, (_, n) => stamp(country.stationIds[n % 2]!)));
    // Behind a pooler a single statement outside a transaction has the database's defaults (docs/operations.md).
    const [found] = await db.transaction((tx) =>
      rows<{ day: string; bytes: Buffer; lat: number }>(
        tx,
        "select date '2026-11-25' as day, '\\x00ff'::bytea as bytes, 55.123456789::float8 as lat",
      ),
    );
    const bytes = Buffer.from([0, 255]);
    expect(found).to.deep.equal({ day: "2026-11-25", bytes, lat: 55.123456789 });
  }
});
