import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import pino from "pino";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import { createLatestDump } from "#snapshots/dumps/latest-dump.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import { until } from "#test/flow/client.ts";
import { startInstance } from "#test/api/edge.ts";
import type { TestInstance } from "#test/harness/instance.ts";

/** Passes everything on to Redis, and counts who subscribes. From the second time on such a connection goes mute. */
async function muteAtSecond(redisUrl: string) {
  const { hostname, port } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let subscriptions = 0;
  const server: Server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
    far.on("data", (bytes) => near.write(bytes));
    near.on("data", (bytes) => {
      const isSubscription = bytes.toString("latin1").toLowerCase().includes("\r\nsubscribe\r\n");
      if (isSubscription) subscriptions += 1;
      if (!isSubscription || subscriptions === 1) far.write(bytes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: redisUrl.replace(
      /(\/\/)(.*@)?[^/]+/,
      `$1$2127.0.0.1:${(server.address() as AddressInfo).port}`,
    ),
    subscriptions: () => subscriptions,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    },
  };
}

describe("the newest dump in memory", () => {
  let instance: TestInstance;
  before(async () => void (instance = await startInstance()));
  after(() => instance.drop());

  // The harness fails a file that leaves a rejected promise to nobody; in a role that ends the process.
  it("stops while it subscribes anew after an outage", async () => {
    const log = pino({ level: "silent" });
    const proxy = await muteAtSecond(instance.config.redisUrl);
    const config = { ...instance.config, redisUrl: proxy.url };
    const redis = createRedis(instance.config, log);
    const latest = createLatestDump({ config, log, clock: Date.now, redis, asOf: Date.now });
    try {
      await latest.start();
      await until(
        () => Promise.resolve(proxy.subscriptions()),
        (count) => count === 1,
      );
      proxy.cut();
      await until(
        () => Promise.resolve(proxy.subscriptions()),
        (count) => count === 2,
      );
      await latest.stop();
    } finally {
      redis.disconnect();
      proxy.close();
    }
    expect(proxy.subscriptions()).to.equal(2);
  });

  it("gives no dump whose as_of is far behind that of this process, as one is that was cut off", async () => {
    const log = pino({ level: "silent" });
    const redis = createRedis(instance.config, log);
    await new Promise((ready) => redis.once("ready", ready));
    const now = Date.now();
    const whole = { count: 1, sum: "the same" };
    const bytes = { gzip: Buffer.from("x"), br: Buffer.from("x") };
    const store = createDumpStore(redis, instance.redisPrefix, 600_000);
    await store.save({ seq: 1, asOfMs: now - 300_000, builtAtMs: now, ...whole, ...bytes });
    for (const [behindMs, isGiven] of [
      [0, false],
      [300_000, true],
      [600_000, true],
    ] as const) {
      const asOf = (at: number): number => at - behindMs;
      const { config } = instance;
      const latest = createLatestDump({ config, log, clock: Date.now, redis, asOf });
      await latest.start();
      expect(latest.complete(() => whole, now) !== null, String(behindMs)).to.equal(isGiven);
      await latest.stop();
    }
    redis.disconnect();
  });
});
