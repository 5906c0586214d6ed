import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import pg from "pg";
import { readProcfile } from "#demo/roles.ts";
import { createDb, rows } from "#src/infrastructure/db.ts";
import { startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";
import { createTestInstance } from "#test/harness/instance.ts";
import { findBouncer, type PoolMode, startBouncer } from "#test/harness/pgbouncer.ts";
import { type RoleProcess, startProcess, startRoleProcess } from "#test/harness/processes.ts";

const marksSetAside = "select count(*) from marks where failed_at is not null";

describe("fault: Postgres behind PgBouncer", function () {
  this.timeout(180_000);
  before(async function () {
    if ((await findBouncer()) !== null) return;
    console.log("      no pgbouncer on PATH, and apt-get has none: skipped");
    this.skip();
  });

  for (const mode of ["session", "transaction"] as const)
    describe(`in ${mode} mode`, () => {
      let stage: Stage;
      const others: RoleProcess[] = [];
      beforeEach(async () => {
        stage = await openStage({ pooler: mode, workers: 2 });
        for (const role of ["snapshots", "upkeep", "clock"])
          others.push(await startRoleProcess(role, stage.env));
      });
      afterEach(async () => {
        await Promise.all(others.splice(0).map((role) => role.stop()));
        await stage?.close();
      });

      it("takes each mark once and sets none aside, though PgBouncer is killed and started again", async () => {
        const load = startLoad(stage.clients);
        await sleep(5000);
        const from = Date.now();
        await stage.bouncer!.kill9();
        await sleep(1000);
        await stage.bouncer!.restart();
        const outage = { from, to: Date.now() + 1500 };
        await sleep(6000);
        await load.stop();
        await load.retryAll();
        expectAnswers(load.sent, { outage, postgresAway: true });
        await expectInEffectOnce(stage, load.sent);
        const [aside] = await rows<{ count: number }>(stage.country.db, marksSetAside);
        expect(aside!.count).to.equal(0);
        const bad = [...stage.webs, ...stage.workers, ...others].flatMap(({ lines }) =>
          lines.filter((line) => /mark failed|could not be folded|unexpected error/.test(line)),
        );
        expect(bad).to.deep.equal([]);
      });

      it("has the service's settings in its transactions, and leaves none behind for other clients", async () => {
        const db = createDb({ ...stage.config, lockTimeoutMs: 1234 }, "test", 2);
        const shown = await db.transaction(async (tx) => [
          await rows(tx, "show lock_timeout"),
          await rows(tx, "show timezone"),
        ]);
        expect(shown).to.deep.equal([[{ lock_timeout: "1234ms" }], [{ TimeZone: "UTC" }]]);
        await db.destroy();
        const stranger = new pg.Client({ connectionString: stage.bouncer!.url });
        await stranger.connect();
        const left = await stranger.query<{ lock_timeout: string }>("show lock_timeout");
        await stranger.end();
        expect(left.rows[0]!.lock_timeout).to.equal("0");
      });
    });

  it("is refused at the start of each role, by name, where notifications and locks would be lost", async () => {
    const instance = await createTestInstance();
    const ended = async (
      role: string,
      mode: PoolMode,
      withDirect: boolean,
    ): Promise<string | undefined> => {
      const bouncer = await startBouncer(instance.databaseUrl, mode);
      const direct: Record<string, string> = withDirect
        ? { DATABASE_DIRECT_URL: instance.databaseUrl }
        : {};
      const env = { ...instance.env, DATABASE_URL: bouncer.url, ...direct };
      const started = await startProcess(role, readProcfile().get(role)!, env);
      const code = await Promise.race([started.exited, sleep(20_000, "runs" as const)]);
      if (code === "runs") await started.kill9();
      await bouncer.drop();
      return code === 1 ? started.lines.find((line) => line.includes('"level":60')) : undefined;
    };
    for (const role of ["release", "web", "marks", "clock"])
      expect(await ended(role, "transaction", false), role)
        .to.contain("DATABASE_URL leads to a pooler")
        .and.contain("set DATABASE_DIRECT_URL");
    expect(await ended("web", "statement", true)).to.contain("pool_mode to transaction or session");
    await instance.drop();
  });
});
