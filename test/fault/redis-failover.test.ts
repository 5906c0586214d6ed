import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { clientsOf, openAddress, startRedisServer } from "#test/harness/redis-servers.ts";

describe("fault: Redis fails over", function () {
  this.timeout(180_000);
  const closing: (() => Promise<void>)[] = [];
  const later = <T>(made: T, end: () => Promise<unknown>): T => {
    closing.unshift(async () => void (await end()));
    return made;
  };
  afterEach(async () => {
    for (const end of closing.splice(0)) await end();
  });

  const pair = async () => {
    const master = await startRedisServer([]);
    later(master, master.drop);
    const replica = await startRedisServer([`replicaof 127.0.0.1 ${master.port}`]);
    later(replica, replica.drop);
    await until(
      () => replica.client.info("replication"),
      (info) => info.includes("master_link_status:up"),
    );
    return { master, replica };
  };
  const openAll = async (
    settings: Record<string, string>,
  ): Promise<{ stage: Stage; roles: RoleProcess[] }> => {
    const stage = await openStage({ workers: 2, settings });
    later(stage, stage.close);
    const names = ["snapshots", "upkeep", "clock"];
    const others = await Promise.all(names.map((name) => startRoleProcess(name, stage.env)));
    later(others, () => Promise.all(others.map((role) => role.stop())));
    return { stage, roles: [...stage.webs, ...stage.workers, ...others] };
  };

  it("leaves a master that became a replica while its connections stay open, in every role, and says so once", async () => {
    const { master, replica } = await pair();
    const address = await openAddress(master.port);
    later(address, address.close);
    const { stage, roles } = await openAll({ REDIS_URL: `redis://127.0.0.1:${address.port}` });
    const load = startLoad(stage.clients);
    await sleep(4000);
    expect((await clientsOf(master)).length).to.be.greaterThan(roles.length);
    await replica.client.replicaof("NO", "ONE");
    await master.client.replicaof("127.0.0.1", replica.port);
    // As a name or an address that is moved a little later: until then they come to the replica again.
    await sleep(3000);
    address.leadTo(replica.port);
    await until(
      () => clientsOf(master),
      (found) => found.length === 0,
      30_000,
    );
    await sleep(4000);
    await load.stop();
    expectAnswers(load.sent, {});
    await expectInEffectOnce(stage, load.sent);
    for (const { role, lines } of roles) {
      const told = lines.filter(
        (line) => /"level":(40|50)/.test(line) && /edis|READONLY/.test(line),
      );
      expect(told.length, `${role}:\n${told.join("\n")}`).to.be.within(1, 8);
    }
  });

  /** A pair that a Sentinel watches, and all roles that ask it. */
  const openWatched = async () => {
    const { master, replica } = await pair();
    const watched = [
      `sentinel monitor fuel 127.0.0.1 ${master.port} 1`,
      "sentinel down-after-milliseconds fuel 1000",
      "sentinel failover-timeout fuel 3000",
    ];
    const sentinel = await startRedisServer(watched, {}, "sentinel");
    later(sentinel, sentinel.drop);
    await until(
      () => sentinel.client.call("sentinel", "replicas", "fuel") as Promise<unknown[]>,
      (found) => found.length === 1,
    );
    const { stage, roles } = await openAll({
      // Nobody listens there: the Sentinel knows better.
      REDIS_URL: "redis://127.0.0.1:1",
      REDIS_SENTINELS: `127.0.0.1:2,127.0.0.1:${sentinel.port}`,
      REDIS_SENTINEL_NAME: "fuel",
    });
    const load = startLoad(stage.clients);
    await sleep(3000);
    expect((await clientsOf(master)).length).to.be.greaterThan(roles.length);
    return { master, replica, sentinel, stage, roles, load };
  };

  it("is followed through Sentinels, with every connection on the new master", async () => {
    const { master, replica, sentinel, stage, roles, load } = await openWatched();
    // It may not know yet that the replica is a good one.
    await until(
      () => sentinel.client.call("sentinel", "failover", "fuel").catch(String),
      (answer) => answer === "OK",
    );
    await until(
      async () => [await clientsOf(master), await clientsOf(replica)],
      ([old, now]) => old!.length === 0 && now!.length > roles.length,
    );
    await sleep(3000);
    await replica.kill9();
    await until(
      () => clientsOf(master),
      (found) => found.length > roles.length,
    );
    await sleep(3000);
    await load.stop();
    await load.retryAll();
    expectAnswers(load.sent, {});
    await expectInEffectOnce(stage, load.sent);
  });

  it("is left for its successor when it freezes and its connections stay open", async () => {
    const { master, replica, stage, roles, load } = await openWatched();
    const from = Date.now();
    master.freeze();
    await until(
      () => clientsOf(replica),
      (found) => found.length > roles.length,
      60_000,
    );
    // The workers' connections as well: a dump that is gone there is made again.
    const dumpKey = `${stage.env["REDIS_PREFIX"]}:dump:5`;
    await replica.client.del(dumpKey);
    await until(() => replica.client.exists(dumpKey), Boolean, 60_000);
    const outage = { from, to: Date.now() };
    await sleep(4000);
    await load.stop();
    await load.retryAll();
    expectAnswers(load.sent, { outage });
    await expectInEffectOnce(stage, load.sent);
    master.thaw();
  });
});
