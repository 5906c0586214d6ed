import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import pino from "pino";
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
    const latest = createLatestDump({ config, log, clock: Date.now, redis });
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
});
