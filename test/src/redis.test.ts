import { expect } from "chai";
import { pino } from "pino";
import { loadConfig } from "#src/config.ts";
import { createRedis, createWorkerRedis, type Redis } from "#src/redis.ts";
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
});
