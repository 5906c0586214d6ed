import { expect } from "chai";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis, type Redis } from "#src/infrastructure/redis.ts";
import { until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";
import { runOperator } from "#test/harness/operator.ts";
import { startWorker } from "#test/harness/roles.ts";

describe("fault: Redis loses parts of a queue", function () {
  this.timeout(240_000);
  const instance = useInstance();
  let redis: Redis;
  let key: (name: string) => string;
  let stopClock: () => Promise<void>;
  before(async () => {
    redis = createWorkerRedis(instance.config, createLog({ logLevel: "silent" }, "test"));
    key = (name) => `${instance.config.redisPrefix}:upkeep:${name}`;
    stopClock = await startWorker("clock", instance.config);
  });
  after(async () => {
    await stopClock();
    redis.disconnect();
  });

  const succeededAt = async (): Promise<number> =>
    Number((await redis.hget(`${instance.config.redisPrefix}:duties`, "instants")) ?? 0);
  const waitingJobs = (): Promise<number> => redis.llen(key("wait"));
  /** The clock fills the queue, the fault happens, and a worker starts: every duty must be done again. */
  const healsFrom = async (fault: () => Promise<unknown>): Promise<void> => {
    await until(waitingJobs, (jobs) => jobs > 3);
    const before = await succeededAt();
    await fault();
    const stop = await startWorker("upkeep", instance.config);
    await until(succeededAt, (at) => at > before, 60_000);
    // And once more, so that it was no job of before.
    const again = await succeededAt();
    await until(succeededAt, (at) => at > again, 60_000);
    await stop();
  };

  it("does a duty again whose job stands in no list, and shows it until then", async () => {
    await healsFrom(async () => {
      await stopClock();
      await redis.del(key("wait"));
      const { json } = await runOperator(instance.env, "queues", "--json");
      const upkeep = (json as { queue: string; orphaned: string }[]).find(
        ({ queue }) => queue === "upkeep",
      );
      expect(upkeep?.orphaned).to.include("instants");
      stopClock = await startWorker("clock", instance.config);
    });
  });

  it("does duties again after a list of jobs has become a text", () =>
    healsFrom(async () => {
      await redis.del(key("wait"));
      await redis.set(key("wait"), "poison");
    }));

  it("does duties again after `meta`, `stalled`, `marker` and `id` are gone", () =>
    healsFrom(() => redis.del(...["meta", "stalled", "marker", "id", "events"].map(key))));

  it("does duties again behind a job of which nothing is stored", () =>
    healsFrom(async () => {
      await redis.rpush(key("wait"), "instants-s1", "nothing");
    }));

  it("does duties again after their jobs are gone and their lists are not", () =>
    healsFrom(async () => {
      const jobs = await redis.lrange(key("wait"), 0, -1);
      await redis.del(...jobs.map(key));
    }));
});
