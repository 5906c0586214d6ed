import fc from "fast-check";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { createClock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createMeter, type Meter, type Metered } from "#src/limits/meter.ts";
import { createLocalLimiter, runMeter } from "#src/limits/limiter.ts";
import { Redis as PlainRedis } from "ioredis";
import { createRedis, partnerPrefix, type Redis } from "#src/infrastructure/redis.ts";
import { type OwnServer, startPrivateRedis } from "#test/harness/servers.ts";
import { useRedis } from "#test/harness/use.ts";

const silent = createLog({ logLevel: "silent" }, "test");
const noFloor = { floorDay: 0, floor: 0, floorMinute: 0, floorMn: 0 };
describe("the meter", () => {
  const space = useRedis();
  let config: Config;
  let redises: Redis[];
  let meters: Meter[];
  let names = 0;
  /** How far the meters' clock is ahead of the machine's. */
  let aheadS = 0;
  const now = (): number => Date.now() + aheadS * 1000;
  const today = (): number => Math.floor(now() / 86_400_000);
  /** Meters that are made from now on count in a minute that has just begun. */
  const beginMinute = (): void => {
    aheadS = Math.ceil((60_000 - (Date.now() % 60_000)) / 1000);
  };

  const meterOn = (redis: Redis, given = config): Meter => {
    const settings = { ...given, clockOffsetS: given.clockOffsetS + aheadS };
    const meter = createMeter({
      redis,
      config: settings,
      clock: createClock(settings),
      log: silent,
    });
    meters.push(meter);
    return meter;
  };
  const someone = (rpm: number, daily: number, more: Partial<Metered> = {}): Metered => {
    names += 1;
    return { bucket: `t${names}`, usage: `t${names}`, rpm, daily, floor: null, ...more };
  };
  const ownOf = (who: Metered): string => partnerPrefix(config.redisPrefix, who.usage.slice(1));
  const usage = async (who: Metered): Promise<Record<string, string>> => {
    const key = `${ownOf(who)}:usage:${who.usage}:${today()}`;
    const { id, ...fields } = await (redises[0] as Redis).hgetall(key);
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    return fields;
  };

  /** A meter on a Redis of its own, which is thawed and ended afterwards. */
  const withFreezable = async (
    run: (meter: Meter, server: OwnServer, redis: Redis) => Promise<void>,
  ): Promise<void> => {
    const server = await startPrivateRedis();
    const settings = { ...config, redisUrl: server.url, redisTimeoutMs: 500 };
    const redis = createRedis(settings, silent);
    try {
      if (redis.status !== "ready") await new Promise((ready) => redis.once("ready", ready));
      await run(meterOn(redis, settings), server, redis);
    } finally {
      server.thaw();
      redis.disconnect();
      await server.drop();
    }
  };

  /** The names of the commands that are sent from now on. */
  const commandsOf = (redis: Redis): string[] => {
    const names: string[] = [];
    const send = redis.sendCommand.bind(redis);
    redis.sendCommand = (command, ...rest) => {
      names.push(command.name);
      return send(command, ...rest);
    };
    return names;
  };

  before(async () => {
    ({ config } = space);
    redises = [space.redis, createRedis(config, silent)];
    meters = [];
    for (const redis of redises) {
      if (redis.status !== "ready") await new Promise((ready) => redis.once("ready", ready));
    }
  });
  beforeEach(beginMinute);
  after(async () => {
    for (const meter of meters) await meter.stop();
    redises[1]!.disconnect();
  });

  it("never grants more than the limit over two processes, and not less", async function () {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.tuple(fc.constantFrom(0, 1), fc.boolean()), { minLength: 1, maxLength: 80 }),
        async (rpm, daily, requests) => {
          beginMinute();
          const pair = redises.map((redis) => meterOn(redis));
          const who = someone(rpm, daily);
          const verdicts = [];
          for (const [process, pause] of requests) {
            verdicts.push((pair[process] as Meter).take(who, "GET /x"));
            if (pause) await new Promise(setImmediate);
          }
          const grants = await Promise.all(verdicts);
          const granted = grants.filter((grant) => grant.granted);
          const most = Math.min(rpm, daily);
          expect(granted.length).to.equal(Math.min(requests.length, most));
          // Each one that was granted saw another number of what is left.
          const left = granted.map(({ remaining }) => remaining).sort((a, b) => b - a);
          expect(left).to.deep.equal(granted.map((_, i) => rpm - 1 - i));
          for (const grant of grants.filter((one) => !one.granted)) {
            expect(grant.hit).to.equal(rpm <= daily ? "minute" : "day");
          }
          expect(await usage(who)).to.deep.equal({ "GET /x": String(granted.length) });
        },
      ),
      { numRuns: 60 },
    );
  });

  it("asks Redis once for all requests of one turn of the event loop", async () => {
    const own = createRedis(config, silent);
    await new Promise((ready) => own.once("ready", ready));
    const meter = meterOn(own);
    const partners = [someone(100, 100), someone(100, 100)] as const;
    await meter.take(partners[0], "GET /x");
    const commands = commandsOf(own);
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => meter.take(partners[i % 2 ? 1 : 0], `GET /${i % 3}`)),
    );
    expect(commands).to.deep.equal(["evalsha"]);
    await meter.stop();
    own.disconnect();
  });

  it("counts usage by method, with what became of the requests", async () => {
    const meter = meterOn(redises[0] as Redis);
    const who = someone(3, 100);
    const labels = ["GET /a", "HEAD /a", "GET /a", "GET /b"];
    const grants = await Promise.all(labels.map((label) => meter.take(who, label)));
    const [first] = grants;
    if (first === undefined) throw new Error("no grant");
    meter.note(who.usage, first.day, "GET /a|not_modified");
    meter.note(who.usage, first.day, "HEAD /a|errors|not-found");
    meter.note(who.usage, first.day, "HEAD /a|errors|not-found");
    meter.note(who.usage, first.day, "|hours|7|31", 4);
    await meter.stop();
    expect(await usage(who)).to.deep.equal({
      "GET /a": "2",
      "HEAD /a": "1",
      "GET /a|not_modified": "1",
      "HEAD /a|errors|not-found": "2",
      "|hours|7|31": "4",
    });
    const index = await (redises[0] as Redis).smembers(`${ownOf(who)}:usage`);
    expect(index).to.include(`${ownOf(who)}:usage:${who.usage}:${today()}`);
  });

  it("looks without counting", async () => {
    const meter = meterOn(redises[0] as Redis);
    const who = someone(5, 9);
    await meter.take(who, "GET /x");
    for (let i = 0; i < 3; i += 1) {
      const { remaining, dailyRemaining, hit } = await meter.peek(who);
      expect({ remaining, dailyRemaining, hit }).to.deep.equal({
        remaining: 4,
        dailyRemaining: 8,
        hit: null,
      });
    }
  });

  it("starts from the durable count of the day, and from no other day's", async () => {
    const meter = meterOn(redises[0] as Redis);
    const floor = { day: today(), count: 7 };
    const restored = await meter.take(someone(100, 10, { floor }), "GET /x");
    expect(restored.dailyRemaining).to.equal(2);
    const yesterday = { day: today() - 1, count: 7 };
    const fresh = await meter.take(someone(100, 10, { floor: yesterday }), "GET /x");
    expect(fresh.dailyRemaining).to.equal(9);
  });

  it("goes on with the minute after Redis has lost its counts, over two processes", async () => {
    const [one, other] = redises.map((redis) => meterOn(redis)) as [Meter, Meter];
    const who = someone(60, 1000);
    const counts = `${ownOf(who)}:meter:${who.bucket}`;
    let granted = 0;
    let losses = 0;
    for (let i = 0; i < 400; i += 1) {
      if ((await (i % 2 === 0 ? one : other).take(who, "GET /x")).granted) granted += 1;
      if (i % 5 === 4) losses += granted < 60 ? await (redises[0] as Redis).del(counts) : 0;
    }
    // With each loss goes what the others were granted since the last request of who asks next: one here.
    expect(losses).to.be.at.least(10);
    expect(granted).to.be.within(60, 60 + losses);
    await (redises[0] as Redis).del(counts);
    expect((await one.take(who, "GET /x")).granted).to.equal(false);
    // A process that was never asked learns it from Redis.
    expect((await meterOn(redises[0] as Redis).take(who, "GET /x")).granted).to.equal(false);
  });

  it("grants no more than the minute when Redis comes back empty again and again", async () => {
    await withFreezable(async (meter, server, redis) => {
      const who = someone(60, 1000);
      let granted = 0;
      const ask = async (times: number): Promise<void> => {
        for (let i = 0; i < times; i += 1)
          if ((await meter.take(who, "GET /x")).granted) granted += 1;
      };
      const from = now();
      for (let round = 0; round < 4; round += 1) {
        await ask(12);
        await server.stop();
        while (redis.status === "ready") await sleep(5);
        await ask(12);
        await server.restart();
        while (meter.away) await sleep(5);
      }
      const minutes = Math.floor(now() / 60_000) - Math.floor(from / 60_000) + 1;
      expect(granted).to.be.within(60, 60 * minutes);
    });
  });

  it("asks each request's own question together with its call", async () => {
    const asked: string[][] = [];
    const meter = createMeter<string, number>({
      ...{ redis: redises[0] as Redis, config, clock: createClock(config), log: silent },
      lookUp: async (questions) => {
        asked.push([...questions]);
        return questions.map(({ length }) => length);
      },
    });
    const [who, other] = [someone(2, 9), someone(5, 5)];
    const questions = ["one", null, "three", "eleven"];
    const taken = await Promise.all([
      ...questions.map((question) => meter.take(who, "GET /x", question)),
      meter.take(other, "GET /x", "seven"),
    ]);
    await meter.stop();
    expect(taken.map(({ found }) => found)).to.deep.equal([3, null, 5, 6, 5]);
    expect(asked.flat().sort()).to.deep.equal(["eleven", "one", "seven", "three"]);
    expect(asked).to.have.lengthOf(1);
  });

  it("uses no answer of a demoted master, which still reads but cannot count", async () => {
    const server = await startPrivateRedis();
    const settings = { ...config, redisUrl: server.url };
    const own = createRedis(settings, silent);
    // The operator's, which stays with a demoted master.
    const admin = new PlainRedis(server.url);
    try {
      if (own.status !== "ready") await new Promise((ready) => own.once("ready", ready));
      await own.set("answer", 1);
      const meter = createMeter<string, number>({
        ...{ redis: own, config: settings, clock: createClock(settings), log: silent },
        lookUp: async (questions) => {
          const found = Number(await own.get("answer"));
          return questions.map(() => found);
        },
      });
      const ask = () => meter.take(someone(5, 5), "GET /x", "question");
      const { granted, found } = await ask();
      expect([granted, found]).to.deep.equal([true, 1]);
      await admin.replicaof("127.0.0.1", 1);
      expect(await admin.get("answer")).to.equal("1");
      const demoted = await ask();
      expect([demoted.granted, demoted.found]).to.deep.equal([true, null]);
      await admin.replicaof("NO", "ONE");
      await meter.stop();
    } finally {
      own.disconnect();
      admin.disconnect();
      await server.drop();
    }
  });

  it("says when the minute ends and, after the daily quota, when the day ends", async () => {
    const meter = meterOn(redises[0] as Redis);
    const nowS = now() / 1000;
    const minute = someone(1, 10);
    await meter.take(minute, "GET /x");
    const byMinute = await meter.take(minute, "GET /x");
    expect(byMinute.resetS % 60).to.equal(0);
    expect(byMinute.resetS - nowS).to.be.within(0, 61);
    expect(byMinute.retryAfterS).to.be.within(1, 60);
    const day = someone(10, 1);
    await meter.take(day, "GET /x");
    const byDay = await meter.take(day, "GET /x");
    expect(byDay.hit).to.equal("day");
    const end = (today() + 1) * 86_400;
    expect(byDay.retryAfterS).to.be.within(end - now() / 1000 - 2, end - nowS + 2);
  });

  it("shifts its minute and day with the tests' clock", async () => {
    const meter = meterOn(redises[0] as Redis, { ...config, clockOffsetS: 3 * 86_400 });
    const grant = await meter.take(someone(5, 5), "GET /x");
    expect(grant.day - today()).to.equal(3);
  });

  it("keeps limits and counts by itself while Redis is away, and hands them over afterwards", async () => {
    const own = createRedis(config, silent);
    await new Promise((ready) => own.once("ready", ready));
    const meter = meterOn(own);
    const who = someone(10, 100);
    await meter.take(who, "GET /x");
    const ended = new Promise((gone) => own.once("end", gone));
    own.disconnect();
    await ended;
    const alone = await Promise.all(Array.from({ length: 12 }, () => meter.take(who, "GET /x")));
    expect(meter.away).to.equal(true);
    // One was used before: the stand-in knows.
    expect(alone.filter(({ granted }) => granted).length).to.equal(9);
    await own.connect();
    await meter.stop();
    own.disconnect();
    const after = await meterOn(redises[0] as Redis).peek(who);
    expect([after.remaining, after.dailyRemaining]).to.deep.equal([0, 90]);
    expect(await usage(who)).to.deep.equal({ "GET /x": "10" });
  });

  it("does not make requests wait for a frozen Redis again and again", async function () {
    await withFreezable(async (meter, server, redis) => {
      const who = someone(100, 100);
      await meter.take(who, "GET /x");
      server.freeze();
      const asked = commandsOf(redis);
      for (let i = 0; i < 20; i += 1) {
        expect((await meter.take(who, "GET /x")).granted).to.equal(true);
      }
      // The first waits for its time-out; then one in a second tries again, the others do not wait.
      expect(asked.length).to.be.below(10);
    });
  });

  it("notices that Redis is back though nothing waits to be counted and nobody asks", async function () {
    await withFreezable(async (meter, server) => {
      server.freeze();
      // Refused, so that no count waits for Redis.
      await meter.take(someone(0, 0), "GET /x");
      expect(meter.away).to.equal(true);
      server.thaw();
      while (meter.away) await sleep(50);
    });
  });

  it("is away until Redis knows what was granted without it", async () => {
    await withFreezable(async (meter, server, redis) => {
      const who = someone(100, 100);
      await server.stop();
      while (redis.status === "ready") await sleep(5);
      for (let i = 0; i < 3; i += 1) await meter.take(who, "GET /x");
      await server.restart();
      while (meter.away) await new Promise(setImmediate);
      const key = `${ownOf(who)}:usage:${who.usage}:${today()}`;
      expect(await redis.hget(key, "GET /x")).to.equal("3");
    });
  });

  it("works again after Redis has forgotten its scripts", async () => {
    const meter = meterOn(redises[0] as Redis);
    const who = someone(5, 5);
    await meter.take(who, "GET /x");
    await (redises[0] as Redis).script("FLUSH");
    expect((await meter.take(who, "GET /x")).remaining).to.equal(3);
    expect(meter.away).to.equal(false);
  });

  it("lets what nobody uses any more go from Redis", async () => {
    const meter = meterOn(redises[0] as Redis);
    const who = someone(5, 5);
    await meter.take(who, "GET /x");
    const redis = redises[0] as Redis;
    expect(await redis.ttl(`${ownOf(who)}:meter:${who.bucket}`)).to.be.within(1, 172_800);
    expect(await redis.ttl(`${ownOf(who)}:usage:${who.usage}:${today()}`)).to.be.greaterThan(0);
  });

  it("has a budget for strangers that Redis knows nothing of", () => {
    const meter = meterOn(redises[0] as Redis);
    expect(meter.anonymous("1.2.3.4").remaining).to.equal(119);
    expect(meter.anonymous("1.2.3.4").dailyRemaining).to.equal(49_998);
    expect(meter.anonymous("1.2.3.5").remaining).to.equal(119);
  });
});

describe("the stand-in", () => {
  const space = useRedis();

  it("decides as the script does, over minutes and days", async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.tuple(fc.nat(5), fc.constantFrom(0, 1, 60, 3600, 86_400)), { maxLength: 12 }),
        async (rpm, daily, steps) => {
          run += 1;
          const bucket = `s${run}`;
          const localLimiter = createLocalLimiter(10);
          let offset = 0;
          for (const [n, stepS] of steps) {
            offset += stepS;
            const uses: [string, number][] = n === 0 ? [] : [["GET /x", n]];
            const take = { bucket, usage: bucket, rpm, daily, ...noFloor, uses };
            const call = { takes: [take], unsent: [], notes: [] };
            const { takes, nowS } = await runMeter(space.redis, space.redisPrefix, offset, call);
            expect(takes[0]).to.deep.equal(localLimiter.take(bucket, n, rpm, daily, nowS));
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("forgets the bucket that was unused longest", () => {
    const small = createLocalLimiter(2);
    for (const bucket of ["a", "b", "a", "c"]) small.take(bucket, 1, 10, 10, 0);
    expect(small.take("a", 1, 10, 10, 0).mn).to.equal(3);
    expect(small.take("b", 1, 10, 10, 0).mn).to.equal(1);
  });
});
