import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";

/** A queue's worker as of a role, whose loop turns each 0.3 s and may stand still for 12 looks, 2.4 s. */
const program = `import { createLog } from "#src/infrastructure/log.ts";
  import { loadConfig } from "#src/infrastructure/config.ts";
  import { dieLoudly } from "#src/infrastructure/lifecycle.ts";
  import { createRedis, createWorkerRedis } from "#src/infrastructure/redis.ts";
  import { createQueueWorker } from "#workers/role.ts";
  const config = loadConfig();
  const log = createLog(config, "test");
  dieLoudly(log);
  const deps = { config, log, redis: createRedis(config, log), workerRedis: () => createWorkerRedis(config, log) };
  const job = async () => {
    log.warn("job begins");
    await new Promise((done) => setTimeout(done, 6000));
    log.warn("job done");
  };
  createQueueWorker(deps, "imports", job, { concurrency: 1, drainDelay: 0.3 }, undefined, 200).run();
  setInterval(() => {}, 1000);
  log.warn("runs");`;

/** A way to Redis that can hold back all answers to blocking questions, and on every new connection. */
async function startWay(to: URL) {
  let [isHolding, isAway] = [false, false];
  const held = new Set<Socket>();
  const links = new Set<Socket>();
  const server = createServer((client) => {
    if (isAway) return client.resetAndDestroy();
    const redis = connect(Number(to.port), to.hostname);
    if (isHolding) held.add(client);
    links.add(client);
    client.on("data", (chunk) => {
      if (/bzpopmin/i.test(chunk.toString("latin1"))) held.add(client);
      redis.write(chunk);
    });
    redis.on("data", (chunk) => {
      if (!(isHolding && held.has(client))) client.write(chunk);
    });
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    client.on("close", () => links.delete(client));
    return client;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => [...links].forEach((link) => link.resetAndDestroy());
  return {
    port: (server.address() as AddressInfo).port,
    hold: () => (isHolding = true),
    away: (is: boolean) => {
      isAway = is;
      if (is) cut();
    },
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}

/** Decisions 16.46. */
describe("a role whose loop stands still", function () {
  this.timeout(120_000);
  const instance = useInstance();

  it("ends and says why, but not while it is idle, frozen, busy or without Redis", async () => {
    const url = new URL(instance.config.redisUrl!);
    const way = await startWay(url);
    const near = new URL(url);
    near.host = `127.0.0.1:${way.port}`;
    const child: ChildProcess = spawn(
      process.execPath,
      ["--import", "tsx", "--input-type=module", "--eval", program],
      {
        env: { ...process.env, ...instance.env, REDIS_URL: near.href },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const lines: string[] = [];
    createInterface(child.stdout!).on("line", (line) => void lines.push(line));
    const said = (text: string) =>
      until(
        () => Promise.resolve(lines.some((line) => line.includes(text))),
        (is) => is,
      );
    const lives = async (ms: number, what: string): Promise<void> => {
      await sleep(ms);
      expect(child.exitCode, `${what}\n${lines.join("\n")}`).to.equal(null);
    };
    const queue = new Queue("imports", {
      connection: { host: url.hostname, port: Number(url.port), password: url.password },
      prefix: instance.config.redisPrefix,
    });
    try {
      await said("runs");
      await lives(4000, "idle");
      child.kill("SIGSTOP");
      await sleep(4000);
      child.kill("SIGCONT");
      await lives(3000, "frozen");
      way.away(true);
      await lives(4000, "without Redis");
      way.away(false);
      await lives(3000, "with Redis again");
      await queue.add("wake", {});
      await said("job begins");
      await lives(4000, "with a long job");
      await said("job done");
      expect(lines.join("\n")).to.not.include("stands still");

      way.hold();
      const [code] = (await once(child, "exit")) as [number];
      expect(code).to.equal(1);
      expect(lines.at(-1)).to.include(
        "the loop of the queue imports stands still while Redis answers",
      );
    } finally {
      child.kill("SIGKILL");
      await queue.close();
      await way.close();
    }
  });
});
