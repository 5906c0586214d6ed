import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis, type Redis } from "#src/infrastructure/redis.ts";
import { createRectangleStore } from "#snapshots/rectangles/rectangle-store.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";

describe("rectangle store", () => {
  let instance: TestInstance;
  let redis: Redis;

  before(async () => {
    instance = await createTestInstance();
    redis = createRedis(instance.config, createLog({ logLevel: "silent" }, "test"));
    await new Promise((resolve) => redis.once("ready", resolve));
  });
  after(async () => {
    redis?.disconnect();
    await instance?.drop();
  });

  it("gives a body back byte for byte until its life is over", async () => {
    const store = createRectangleStore(redis, `${instance.redisPrefix}a`, 1e6);
    const body = randomBytes(1000);
    expect(await store.load("one")).to.equal(null);
    await store.save("one", body, 300);
    await store.save("one", Buffer.from("later"), 60_000);
    expect(await store.load("one")).to.deep.equal(body);
    await new Promise((resolve) => setTimeout(resolve, 350));
    expect(await store.load("one")).to.equal(null);
  });

  it("never takes more than its budget, whatever is asked for: the oldest go", async () => {
    const prefix = `${instance.redisPrefix}b`;
    const store = createRectangleStore(redis, prefix, 50_000);
    for (let n = 0; n < 200; n++) await store.save(`r${n}`, randomBytes(1700), 60_000);
    const keys = await redis.keys(`${prefix}:rect:*`);
    expect(keys).to.have.length(25);
    expect(await store.load("r199")).to.have.length(1700);
    expect(await store.load("r174")).to.equal(null);
    expect(Number(await redis.get(`${prefix}:rects:bytes`))).to.equal(50_000);
    expect(await redis.llen(`${prefix}:rects`)).to.equal(25);
    await store.save("huge", randomBytes(60_000), 60_000);
    expect(await store.load("huge")).to.equal(null);
  });
});
