import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { mirror } from "#client/mirror.ts";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { countUnprocessed, expectRefolded } from "#test/flow/refold.ts";
import { isKept, startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce, expectServed } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { findBaseBackup } from "#test/harness/standby.ts";

describe("fault: a standby takes over from Postgres", function () {
  this.timeout(240_000);
  let stage: Stage;
  let others: RoleProcess[] = [];
  before(async function () {
    if ((await findBaseBackup()) !== null) return;
    console.log("      no pg_basebackup beside postgres (Debian: postgresql): skipped");
    this.skip();
  });
  beforeEach(async () => {
    stage = await openStage({ own: "postgres", standby: true, workers: 2 });
    const names = ["snapshots", "upkeep", "clock"];
    others = await Promise.all(names.map((name) => startRoleProcess(name, stage.env)));
  });
  afterEach(async () => {
    await Promise.all(others.splice(0).map((role) => role.stop()));
    await stage?.close();
  });

  const failOver = async () => {
    const from = Date.now();
    await stage.postgres!.kill9();
    await stage.standby!.promote();
    return { from, to: Date.now() + 3000 };
  };
  /** Once somebody has told the partners' copies. */
  const marked = () =>
    until(
      () =>
        rows(stage.country.db, "select from operator_log where action = 'database.failover'").catch(
          () => [],
        ),
      (found) => found.length === 1,
    );

  it("that lacks the last marks is followed by every process and copy, without anybody's help", async () => {
    const load = startLoad(stage.clients);
    const copy = mirror({
      baseUrl: stage.webs[0]!.baseUrl,
      key: stage.country.secret,
      pollMs: 300,
    });
    await copy.ready();
    await sleep(3000);
    await stage.standby!.cutOff();
    await sleep(4000);
    const outage = await failOver();
    await marked();
    await sleep(3000);
    await load.stop();
    await load.retryAll();
    expectAnswers(load.sent, { outage, postgresAway: true });
    await until(
      () => countUnprocessed(stage.country.db),
      (count) => count === 0,
    );
    const stored = await rows<{ external_id: string }>(
      stage.country.db,
      "select external_id from marks",
    );
    const names = new Set(stored.map((row) => row.external_id));
    const lost = load.sent.filter((one) => isKept(one) && !names.has(one.externalId));
    expect(lost.length, "acknowledged marks that the standby did not have").to.be.greaterThan(20);
    await expectRefolded(stage.country.db, stage.config);
    await expectServed(stage);
    for (const client of stage.clients) {
      const wrong = await until(
        async () => {
          const { stations } = (await client.get("/stations/all")).body as {
            stations: { id: string }[];
          };
          return stations.filter(
            (one) => JSON.stringify(one) !== JSON.stringify(copy.stations.get(one.id)),
          );
        },
        (found) => found.length === 0,
        20_000,
      );
      expect(wrong).to.deep.equal([]);
    }
    await copy.stop();
  });

  it("that is synchronous has every acknowledged mark", async () => {
    await stage.country.db.raw("alter system set synchronous_standby_names = '*'");
    await stage.country.db.raw("select pg_reload_conf()");
    await until(
      () =>
        rows<{ sync_state: string }>(
          stage.country.db,
          "select sync_state from pg_stat_replication",
        ),
      ([found]) => found?.sync_state === "sync",
    );
    const load = startLoad(stage.clients);
    await sleep(5000);
    const outage = await failOver();
    await marked();
    await sleep(2000);
    await load.stop();
    await load.retryAll();
    expectAnswers(load.sent, { outage, postgresAway: true });
    await expectInEffectOnce(stage, load.sent);
  });
});
