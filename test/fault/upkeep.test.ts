import { expect } from "chai";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import type { Knex } from "knex";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer, type Producer } from "#src/infrastructure/queues.ts";
import { until } from "#test/flow/client.ts";
import { startRoleProcess } from "#test/harness/processes.ts";
import { useInstance } from "#test/harness/use.ts";

describe("fault: an upkeep process in the middle of a duty", function () {
  const instance = useInstance();
  let redis: Redis;
  let queue: Queue;
  let producer: Producer;
  let hold: Knex.Transaction;
  let slot = 0;

  before(async () => {
    redis = new Redis(instance.redisUrl, { maxRetriesPerRequest: null });
    queue = new Queue("upkeep", { connection: redis, prefix: instance.redisPrefix });
    producer = createProducer(instance.config, createLog({ logLevel: "silent" }, "test"));
    await new Promise<void>((ready) => producer.onReady(ready));
  });
  after(async () => {
    await producer.close();
    await queue.close();
    redis.disconnect();
  });
  beforeEach(async () => {
    hold = await instance.db.transaction();
    await hold.raw("lock table feeds in access exclusive mode");
    await redis.del(`${instance.redisPrefix}:duties`);
  });
  afterEach(async () => {
    if (!hold.isCompleted()) await hold.rollback();
  });

  /** Starts a process that waits in the duty. Gives it, and the key of its job's lock. */
  const startWaiting = async () => {
    const role = await startRoleProcess("upkeep", instance.env);
    await producer.addSlot("upkeep", { duty: "feeds", slot: (slot += 1) });
    await until(
      () => queue.getActiveCount(),
      (count) => count > 0,
    );
    const [job] = await queue.getActive();
    return { role, lock: `${instance.redisPrefix}:upkeep:${job!.id}:lock` };
  };
  const done = (ms?: number) =>
    until(
      () => redis.hget(`${instance.redisPrefix}:duties`, "feeds"),
      (at) => at !== null,
      ms,
    );

  it("leaves it soon to another one when it is killed", async () => {
    const { role: first, lock } = await startWaiting();
    const second = await startRoleProcess("upkeep", instance.env);
    // Its rest and a look or two at the others' locks are less than the three slots after which a duty is late.
    expect(await redis.pttl(lock)).to.be.within(1, 5000);
    await first.kill9();
    await hold.rollback();
    await done(25_000);
    await second.stop();
  });

  it("does not begin it again when Redis has lost its lock", async () => {
    const { role, lock } = await startWaiting();
    await redis.del(lock);
    await until(
      () => redis.exists(lock),
      (count) => count === 1,
    );
    const waiting =
      "select 1 from pg_stat_activity where datname = current_database() and query like '%feeds%' and wait_event_type = 'Lock'";
    expect(await rows(instance.db, waiting)).to.have.length(1);
    expect(await redis.hget(`${instance.redisPrefix}:duties`, "feeds")).to.equal(null);
    await hold.rollback();
    await done();
    await role.stop();
  });
});
