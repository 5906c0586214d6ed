import { expect } from "chai";
import { pino } from "pino";
import { loadConfig } from "#src/infrastructure/config.ts";
import {
  createRedis,
  createWorkerRedis,
  isRedisAway,
  type Redis,
} from "#src/infrastructure/redis.ts";
import { startPrivateRedis, type OwnServer } from "#test/harness/servers.ts";

/** `once` of node:events would reject at an error. */
const event = (redis: Redis, name: string): Promise<void> =>
  new Promise((resolve) => redis.once(name, () => resolve()));

describe("a connection to Redis", function () {
  let server: OwnServer;
  before(async () => {
    server = await startPrivateRedis();
  });
  after(() => server.drop());

  it("tells once that Redis is away and once that it is back", async () => {
    const lines: { level: number; msg: string }[] = [];
    const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[0]);
    const log = pino({ level: "debug" }, { write });
    const config = loadConfig({ REDIS_URL: server.url });
    const told = () => lines.filter(({ level }) => level > 20).map(({ msg }) => msg);

    await server.stop();
    const connections = [createRedis(config, log), createWorkerRedis(config, log)];
    for (let fault = 0; fault < 5; fault += 1)
      await Promise.all(connections.map((one) => event(one, "close")));
    expect(told()).to.deep.equal(["redis is away", "redis is away"]);

    const ready = connections.map((one) => event(one, "ready"));
    await server.restart();
    await Promise.all(ready);
    expect(told().slice(2)).to.deep.equal(["redis is back", "redis is back"]);
    const ended = connections.map((one) => event(one, "end"));
    for (const one of connections) one.disconnect();
    await Promise.all(ended);
  });

  it("fails with what is known as Redis being away, whether it stands still, dies or is closed", async () => {
    const log = pino({ level: "silent" });
    const config = loadConfig({ REDIS_URL: server.url, REDIS_TIMEOUT_MS: "100" });
    const redis = createRedis(config, log);
    const told = async (): Promise<string> => {
      const fault = await redis.ping().then(
        () => null,
        (error: Error) => error,
      );
      expect(isRedisAway(fault), fault?.message).to.equal(true);
      return fault!.message;
    };
    if (redis.status !== "ready") await event(redis, "ready");
    server.freeze();
    expect(await told()).to.equal("Command timed out");
    const asked = told();
    const closed = event(redis, "close");
    await server.kill9();
    await asked;
    await closed;
    expect(await told()).to.contain("isn't writeable");
    await event(redis, "error").then(told);
    const ended = event(redis, "end");
    redis.disconnect();
    await ended;
    expect(await told()).to.equal("Connection is closed.");
  });

  for (const [what, why] of [
    ["that is not there", /ECONNREFUSED|Connection is closed/],
    ["whose node is no cluster", /cluster support disabled/],
  ] as const)
    it(`to a cluster ${what} fails at once and says so once`, async () => {
      if (why.test("cluster support disabled")) await server.restart();
      const nodes = why.test("ECONNREFUSED") ? "127.0.0.1:1" : new URL(server.url).host;
      const lines: { level: number; msg: string; err: string }[] = [];
      const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[0]);
      const config = loadConfig({ REDIS_URL: server.url, REDIS_CLUSTER: nodes });
      const redis = createRedis(config, pino({ level: "info" }, { write }));
      for (let fault = 0; fault < 4; fault += 1) {
        await event(redis, "close");
        const refused = await redis.get("key").catch((error: unknown) => error);
        expect(isRedisAway(refused), String(refused)).to.equal(true);
      }
      redis.disconnect();
      expect(lines.map(({ msg }) => msg)).to.deep.equal(["redis is away"]);
      expect(lines[0]!.err).to.match(why);
    });

  it("does not take a wrong command or a bug for Redis being away", async () => {
    await server.restart();
    const redis = createRedis(loadConfig({ REDIS_URL: server.url }), pino({ level: "silent" }));
    await event(redis, "ready");
    const wrong = await redis.call("incr").catch((error: unknown) => error);
    expect(wrong).to.be.an("error");
    for (const fault of [wrong, new TypeError("Connection is closed."), new Error("connection")])
      expect(isRedisAway(fault), (fault as Error).message).to.equal(false);
    const ended = event(redis, "end");
    redis.disconnect();
    await ended;
  });
});
