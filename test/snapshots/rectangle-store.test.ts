import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { advanceGenerations, renewEpoch } from "#src/feed/cache-generations.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import {
  createRectangleStore,
  type CacheLookup,
  type Rectangle,
} from "#snapshots/rectangles/rectangle-store.ts";
import { until } from "#test/flow/client.ts";
import { useRedis } from "#test/harness/use.ts";

const place = { lat: 50, lon: 30 };
const cells = ["4:200:120"];

describe("rectangle store", () => {
  const space = useRedis();
  let redis: Redis;
  let prefix: string;
  let prefixes = 0;

  before(() => void ({ redis } = space));
  beforeEach(() => {
    prefix = `${space.redisPrefix}${++prefixes}`;
  });

  const storeOf = (budget = 1e6) => createRectangleStore(redis, prefix, budget);
  type Store = ReturnType<typeof storeOf>;
  const ask = async (store: Store, name = "one", within = cells): Promise<CacheLookup> =>
    (await store.lookUp([{ name, cells: within }]))[0]!;
  const answerOf = (epoch: string, seq: number, body = randomBytes(1000)): Rectangle => ({
    ...{ epoch, seq, body, coding: "gzip" as const, etag: 'W/"x"', asOfMs: 5000 },
    ...{ endsAt: 9000, count: 3, truncated: false },
  });

  it("gives an answer back byte for byte, to every process, until its life is over", async () => {
    const [store, other] = [storeOf(), storeOf()];
    const { epoch, generation, rectangle } = await ask(store);
    expect([generation, rectangle]).to.deep.equal([0, null]);
    const answer = answerOf(epoch, 7);
    await store.save("one", answer, 60_000);
    for (const one of [store, other, store, other])
      expect((await ask(one)).rectangle).to.deep.include(answer);
    await store.save("one", answer, 50);
    for (const one of [store, other])
      await until(
        () => ask(one),
        ({ rectangle }) => rectangle === null,
      );
  });

  it("gives no answer that lacks a change in its cells, and all that lie elsewhere", async () => {
    const store = storeOf();
    const { epoch } = await ask(store);
    await store.save("one", answerOf(epoch, 7), 60_000);
    await store.save("elsewhere", answerOf(epoch, 7), 60_000);
    await advanceGenerations(redis, prefix, [place], 7);
    expect((await ask(store)).rectangle).to.not.equal(null);
    await advanceGenerations(redis, prefix, [place], 9);
    // A late call with an older number takes nothing back.
    await advanceGenerations(redis, prefix, [place], 8);
    expect(await ask(store)).to.deep.include({ generation: 9, rectangle: null });
    expect((await ask(store, "elsewhere", ["4:201:120"])).rectangle).to.not.equal(null);
    for (const level of [["0.25:12:7"], ["all"]])
      expect((await ask(store, "one", level)).generation).to.equal(9);
    await store.save("one", answerOf(epoch, 9), 60_000);
    expect((await ask(store)).rectangle).to.deep.include({ seq: 9 });
  });

  it("neither gives nor takes an answer of another epoch", async () => {
    const store = storeOf();
    const { epoch } = await ask(store);
    await store.save("one", answerOf(epoch, 7), 60_000);
    await advanceGenerations(redis, prefix, [place], 5);
    await renewEpoch(redis, prefix);
    const renewed = await ask(store);
    expect(renewed).to.deep.include({ generation: 0, rectangle: null });
    expect(renewed.epoch).to.not.equal(epoch);
    await store.save("one", answerOf(epoch, 8), 60_000);
    expect(await redis.hget(`${prefix}:rectangle:one`, "seq")).to.equal("7");
    await redis.del(`${prefix}:cells`);
    expect((await ask(store)).epoch).to.not.equal(renewed.epoch);
  });

  it("never takes more than its budget, whatever is asked for: what ends first goes", async () => {
    const store = storeOf(52_500);
    const { epoch } = await ask(store);
    const save = (name: string, bytes: number, lifeMs: number): Promise<void> =>
      store.save(name, answerOf(epoch, 1, randomBytes(bytes)), lifeMs);
    await save("short", 1700, 20_000);
    for (let n = 0; n < 200; n++) await save(`r${n % 60}`, 1700, 60_000 + n);
    const keys = await redis.keys(`${prefix}:rectangle:*`);
    expect(keys).to.have.length(25);
    expect((await ask(store, "short")).rectangle).to.equal(null);
    expect((await ask(store, "r19")).rectangle?.body).to.have.length(1700);
    expect((await ask(store, "r50")).rectangle).to.equal(null);
    const account = `${prefix}:rectangles`;
    expect(Number(await redis.get(`${account}:bytes`))).to.equal(52_500);
    expect(await redis.zcard(account)).to.equal(25);
    expect(await redis.hlen(`${account}:sizes`)).to.equal(25);
    await save("huge", 60_000, 60_000);
    expect(Number(await redis.get(`${account}:bytes`))).to.be.at.most(52_500);
  });

  it("gives the room of answers that have ended back", async () => {
    const store = storeOf();
    const { epoch } = await ask(store);
    for (let n = 0; n < 5; n++) await store.save(`s${n}`, answerOf(epoch, 1), 20);
    await new Promise((resolve) => setTimeout(resolve, 40));
    await store.save("one", answerOf(epoch, 1), 60_000);
    expect(Number(await redis.get(`${prefix}:rectangles:bytes`))).to.equal(1400);
  });
});
