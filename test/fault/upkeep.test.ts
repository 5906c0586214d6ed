import { expect } from "chai";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { until } from "#test/flow/client.ts";
import { startRoleProcess } from "#test/harness/processes.ts";
import { useInstance } from "#test/harness/use.ts";

describe("fault: an upkeep process is killed in a duty", function () {
  const instance = useInstance();

  it("leaves it soon to another one", async () => {
    const { config, env, redisPrefix: prefix, db } = instance;
    const redis = new Redis(instance.redisUrl, { maxRetriesPerRequest: null });
    const queue = new Queue("upkeep", { connection: redis, prefix });
    const producer = createProducer(config, createLog({ logLevel: "silent" }, "test"));
    const hold = await db.transaction();
    after(async () => {
      if (!hold.isCompleted()) await hold.rollback();
      await producer.close();
      await queue.close();
      redis.disconnect();
    });
    const first = await startRoleProcess("upkeep", env);
    await hold.raw("lock table feeds in access exclusive mode");
    await new Promise<void>((ready) => producer.onReady(ready));
    await producer.addSlot("upkeep", { duty: "feeds", slot: 1 });
    await until(
      () => queue.getActiveCount(),
      (count) => count > 0,
    );
    const [job] = await queue.getActive();
    await first.kill9();
    // Its rest and a look or two at the others' locks are less than the three slots after which a duty is late.
    expect(await redis.pttl(`${prefix}:upkeep:${job!.id}:lock`)).to.be.at.most(5000);
    await hold.rollback();
    const second = await startRoleProcess("upkeep", env);
    await until(
      () => redis.hget(`${prefix}:duties`, "feeds"),
      (at) => at !== null,
    );
    await second.stop();
  });
});
