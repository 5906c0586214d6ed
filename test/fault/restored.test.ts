import { cpSync, rmSync } from "node:fs";
import { expect } from "chai";
import { mirror } from "#client/mirror.ts";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { countUnprocessed } from "#test/flow/refold.ts";
import { expectServed } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { recallToken } from "#src/feed/database-identity.ts";
import { createWorkerRedis } from "#src/infrastructure/redis.ts";
import { createLog } from "#src/infrastructure/log.ts";

// The system identifier and the timeline of a copy of files are those of its server.
describe("fault: a backup of Postgres's files put back in place", function () {
  this.timeout(240_000);
  let stage: Stage;
  let others: RoleProcess[] = [];
  let copy: ReturnType<typeof mirror>;
  let data: string;
  let redis: ReturnType<typeof createWorkerRedis>;
  const otherRoles = ["snapshots", "upkeep", "clock"];
  const startOthers = async (): Promise<void> => {
    others = await Promise.all(otherRoles.map((name) => startRoleProcess(name, stage.env)));
  };
  const stopOthers = () => Promise.all(others.splice(0).map((role) => role.stop()));

  beforeEach(async () => {
    stage = await openStage({ own: "postgres", workers: 1 });
    await startOthers();
    const [found] = await rows<{ data_directory: string }>(stage.country.db, "show data_directory");
    data = found!.data_directory;
    copy = mirror({ baseUrl: stage.webs[0]!.baseUrl, key: stage.country.secret, pollMs: 300 });
    await copy.ready();
    redis = createWorkerRedis(stage.config, createLog({ logLevel: "silent" }, "test"));
  });
  afterEach(async () => {
    redis?.disconnect();
    await copy?.stop();
    await stopOthers();
    await stage?.close();
  });

  const backUp = async (): Promise<void> => {
    await stage.postgres!.stop();
    cpSync(data, `${data}.backup`, { recursive: true, preserveTimestamps: true });
    await stage.postgres!.restart();
    await answers();
  };
  const putBack = async (): Promise<void> => {
    await stage.postgres!.stop();
    rmSync(data, { recursive: true });
    cpSync(`${data}.backup`, data, { recursive: true, preserveTimestamps: true });
    await stage.postgres!.restart();
  };
  const answers = () =>
    until(
      () => rows(stage.country.db, "select 1").catch(() => []),
      (found) => found.length === 1,
    );
  /** Marks of one user at these stations, in effect. */
  const mark = async (user: string, stations: readonly number[]): Promise<void> => {
    for (const n of stations) {
      const { body } = await until(
        () => stage.clients[0]!.mark(placeOf(n), `${user}-${n}`, { status: "low" }),
        ({ status }) => status === 200,
      );
      expect(body.published.outcome).to.equal("published");
    }
  };
  /** Redis remembers the newest token, and nothing has changed since it was made. */
  const settled = (): Promise<unknown> =>
    until(
      async () => {
        const sql = `select number, change_seq = (select last_value from change_seq) as "isNewest"
          from database_tokens order by number desc limit 1`;
        const [newest] = await rows<{ number: number; isNewest: boolean }>(stage.country.db, sql);
        const recalled = await recallToken(redis, stage.config.redisPrefix);
        return newest!.isNewest && recalled?.number === newest!.number;
      },
      (isSettled) => isSettled,
    );
  const failovers = () =>
    until(
      () =>
        rows<{ details: { reason: string; stations: number } }>(
          stage.country.db,
          "select details from operator_log where action = 'database.failover'",
        ).catch(() => []),
      (found) => found.length > 0,
      60_000,
    );
  const statusOf = (n: number) => copy.stations.get(placeOf(n).id)?.fuel.status;
  const expectFollowed = async (): Promise<void> => {
    const found = await failovers();
    expect(found.map(({ details }) => details)).to.have.length(1);
    expect(found[0]!.details).to.include({ reason: "an earlier state", stations: 40 });
    await until(
      () => countUnprocessed(stage.country.db),
      (count) => count === 0,
    );
    await expectServed(stage);
    await until(
      () => Promise.resolve([statusOf(0), statusOf(1), statusOf(2)]),
      (all) => all.join() === "low,nodata,nodata",
    );
    const alarms = await rows<{ kind: string }>(stage.country.db, "select kind from alarms");
    expect(alarms.map(({ kind }) => kind)).to.include("database-changed");
  };
  const takeMarksThatAreLost = async (): Promise<void> => {
    await mark("before", [0]);
    await backUp();
    await mark("lost", [1, 2]);
    await until(
      () => Promise.resolve([statusOf(1), statusOf(2)]),
      (both) => both.join() === "low,low",
    );
    await settled();
  };

  it("is followed by every process and copy, though Redis is emptied at the same time", async () => {
    await takeMarksThatAreLost();
    await putBack();
    const keys = await redis.keys(`*${stage.config.redisPrefix}*`);
    await Promise.all(keys.map((key) => redis.del(key)));
    await answers();
    await expectFollowed();
  });

  it("is followed after all processes were stopped, though others have passed the old numbers by then", async () => {
    await takeMarksThatAreLost();
    const seqSql = "select max(seq) as seq from changes";
    const [old] = await rows<{ seq: number }>(stage.country.db, seqSql);
    await stopOthers();
    await Promise.all([...stage.webs, ...stage.workers].map((role) => role.stop()));
    await putBack();
    await answers();
    // Stations that the lost marks were not about, up to a number beyond the old one.
    const stamp = "select feed_stamp(?::text[]) as seq";
    const ids = [placeOf(20).id];
    await until(
      () => rows<{ seq: number }>(stage.country.db, stamp, [ids]),
      ([found]) => found!.seq > old!.seq + 50,
    );
    await Promise.all([stage.restartWeb(0), stage.restartWeb(1)]);
    stage.workers.splice(0);
    await stage.startWorker();
    await startOthers();
    await expectFollowed();
  });
});
