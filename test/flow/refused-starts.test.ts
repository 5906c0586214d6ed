import { createServer } from "node:net";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { useInstance } from "#test/harness/use.ts";
import { type RoleProcess, startProcess } from "#test/harness/processes.ts";
import { sized } from "#test/harness/long.ts";
import { readProcfile } from "#demo/roles.ts";
import { migrations } from "#migrations/list.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { migrate } from "#src/infrastructure/migrate.ts";
import { schemaFault, versionFault } from "#src/infrastructure/schema-fault.ts";
import { until } from "#test/flow/client.ts";
import { startTcpProxy } from "#test/harness/tcp-proxy.ts";

const procfile = readProcfile();
/** All roles read their settings, wait and stop by the same code: in the short run each of that with one of them. */
const tried = (short: string): string[] => sized([short], [...procfile.keys()]);

describe("flow: a role that cannot start", function () {
  const instance = useInstance();

  const start = (role: string, env: Record<string, string>): Promise<RoleProcess> =>
    startProcess(role, procfile.get(role) as string[], { ...instance.env, ...env });

  for (const role of tried("web")) {
    it(`${role} refuses bad and missing settings in one line that names them`, async () => {
      const env = { POOL_MAX: "many", TRUSTED_PROXIES: "everybody" };
      const bad = await start(role, env);
      expect(await bad.exited).to.equal(1);
      expect(bad.lines).to.have.length(1);
      const line = JSON.parse(bad.lines[0] as string) as { msg: string; role: string };
      expect(line.role).to.equal(role);
      expect(line.msg).to.match(/TRUSTED_PROXIES must be .*; POOL_MAX must be/);

      const lacking = await start(role, { DATABASE_URL: "", REPORTER_PEPPER: "" });
      expect(await lacking.exited).to.equal(1);
      expect(lacking.lines).to.have.length(1);
      expect(lacking.lines[0]).to.match(/set DATABASE_URL\b/);
    });
  }

  for (const role of tried("marks").filter((name) => !/release|clock/.test(name))) {
    it(`${role} says that it still waits for Postgres, and stops in order`, async () => {
      const waiting = await start(role, { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
      await waiting.waitForLine(/Postgres does not answer yet/);
      expect(await waiting.stop()).to.equal(0);
      expect(waiting.lines.slice(-3).join("\n")).to.contain("stopped");
    });
  }

  it("a role starts with settings of an earlier version, and names them in one line", async () => {
    const former = { TEST_NUMBERS: "", NEAR_M: "7", SLOT_MS: "soon" };
    const url = "postgres://nobody@127.0.0.1:1/none";
    const marks = await start("marks", { DATABASE_URL: url, ...former });
    await marks.waitForLine(/no settings any more, and without effect: NEAR_M, .*SLOT_MS/);
    await marks.waitForLine(/Postgres does not answer yet/);
    expect(await marks.stop()).to.equal(0);
    expect(marks.lines.filter((line) => line.includes("no settings any more"))).to.have.length(1);
  });

  it("a role says that the release role has not run, and leaves", async () => {
    const { db } = instance;
    await db.schema.renameTable("knex_migrations", "hidden");
    for (const role of tried("marks").filter((name) => name !== "release")) {
      const early = await start(role, {});
      expect(await early.exited).to.equal(1);
      expect(early.lines.at(-1)).to.contain("has no schema yet: run the release role first");
    }
    await db.schema.renameTable("hidden", "knex_migrations");
  });

  it("the fault names the migration that is lacking", async () => {
    const { db } = instance;
    const newest = Object.keys(migrations).sort().at(-1)!;
    await db("knex_migrations").where({ name: newest }).update({ name: "9999_from_tomorrow" });
    const fault = await schemaFault(instance.config);
    expect(fault).to.contain(`lacks ${newest}: run the release role`);
    await db("knex_migrations").where({ name: "9999_from_tomorrow" }).update({ name: newest });
  });

  it("web says which address is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const web = await start("web", { PORT: String(port) });
    expect(await web.exited).to.equal(1);
    expect(web.lines.at(-1)).to.contain(`HOST 127.0.0.1, PORT ${port}`).and.contain("EADDRINUSE");
    taken.close();
    await once(taken, "close");
  });

  it("release says that Postgres is away", async () => {
    const release = await start("release", { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
    expect(await release.exited).to.equal(1);
    expect(release.lines.at(-1)).to.contain("Postgres does not answer (");
  });

  it("release refuses a Postgres that is too old in one line that names the oldest, and changes nothing", async () => {
    const { db, env } = instance;
    const version = "select current_setting('server_version_num') as version";
    const [real] = await rows<{ version: string }>(db, version);
    // An answer of the same length, so that the protocol stays whole.
    const url = new URL(env["DATABASE_URL"]!);
    const proxy = await startTcpProxy(Number(url.port), (chunk) =>
      Buffer.from(chunk.toString("latin1").replaceAll(real!.version, "140022"), "latin1"),
    );
    try {
      url.host = `127.0.0.1:${proxy.port}`;
      await db.schema.renameTable("knex_migrations", "hidden");
      for (const role of tried("release")) {
        const old = await start(role, { DATABASE_URL: url.href });
        expect(await old.exited).to.equal(1);
        expect(old.lines.at(-1))
          .to.contain("needs Postgres 15 or newer")
          .and.contain("leads to 14");
      }
      expect(await db.schema.hasTable("knex_migrations")).to.equal(false);
      await db.schema.renameTable("hidden", "knex_migrations");
    } finally {
      await proxy.close();
    }
    const faults = [130_023, 140_022, 149_999, 150_000, 180_004, 190_000].map(versionFault);
    expect(faults.map((fault) => fault === null)).to.deep.equal([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  it("release says that Postgres broke it off, not that it is away", async () => {
    const { db } = instance;
    await db.transaction(async (tx) => {
      await tx.raw(`select pg_advisory_xact_lock(${lockIds.migrate})`);
      const release = await start("release", {});
      const cancel = `select pg_cancel_backend(pid) from pg_locks
        where locktype = 'advisory' and objid = ${lockIds.migrate} and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      await until(
        () => rows(db, cancel),
        (cancelled) => cancelled.length > 0,
      );
      expect(await release.exited).to.equal(1);
      expect(release.lines.at(-1)).to.contain("Postgres broke the command off");
    });
  });

  it("release waits for another one for longer than a statement may take", async () => {
    const hasty = createDb(loadConfig({ ...instance.env, QUERY_TIMEOUT_MS: "2000" }), "test", 2);
    try {
      const { migrating } = await instance.db.transaction(async (tx) => {
        await tx.raw(`select pg_advisory_xact_lock(${lockIds.migrate})`);
        const migrating = migrate(hasty, createLog({ logLevel: "silent" }, "test"));
        migrating.catch(() => undefined);
        await sleep(4000);
        return { migrating };
      });
      await migrating;
    } finally {
      await hasty.destroy();
    }
  });

  it("release leaves a database alone that a newer version has migrated, and says so", async () => {
    const { db } = instance;
    const next = { name: "9999_from_tomorrow", batch: 9, migration_time: new Date() };
    await db("knex_migrations").insert(next);
    const release = await start("release", {});
    expect(await release.exited).to.equal(1);
    expect(release.lines.at(-1)).to.contain("newer than this version").and.contain(next.name);
    await db("knex_migrations").where({ name: next.name }).delete();
  });
});
