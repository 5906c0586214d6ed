import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis, type RedisOptions } from "ioredis";
import { somePort } from "#demo/servers/port.ts";
import { signalQuietly, spawnServer } from "#demo/servers/process.ts";
import { findRedis } from "#demo/servers/redis-binaries.ts";
import { hold } from "#test/harness/leaks.ts";
import { provided } from "#test/harness/provided.ts";

/** A Redis of any kind: a replica, a Sentinel, one with TLS. */
export interface RedisServer {
  port: number;
  /** A connection of the test's own, named `test`. */
  client: Redis;
  kill9(): Promise<void>;
  /** Its connections stay open, and nothing is answered. */
  freeze(): void;
  thaw(): void;
  drop(): Promise<void>;
}

/**
 * Starts a Redis with these lines of configuration; `port` is added unless the lines have a `tls-port`.
 *
 * @param reach how the test itself connects, beyond the port
 */
export async function startRedisServer(
  lines: readonly string[],
  reach: RedisOptions = {},
  kind: "server" | "sentinel" = "server",
): Promise<RedisServer> {
  const data = provided("TEST_DATA");
  const binary = await findRedis(join(data, "cache"), () => undefined);
  if (binary === null) throw new Error("no Redis");
  const folder = join(data, `redis-${kind}-${randomBytes(4).toString("hex")}`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "redis.conf");
  const port = reach.port ?? (await somePort());
  const listening = reach.tls === undefined ? [`port ${port}`] : ["port 0", `tls-port ${port}`];
  const usual = ["bind 127.0.0.1", 'save ""', `dir ${folder}`].slice(0, kind === "server" ? 3 : 1);
  writeFileSync(file, [...usual, ...listening, ...lines, ""].join("\n"));
  const server = spawnServer(binary.file, [file, ...(kind === "sentinel" ? ["--sentinel"] : [])], {
    env: binary.env,
    cwd: folder,
    logFile: join(folder, "redis.log"),
  });
  const client = new Redis({
    ...{ port, connectionName: "test", retryStrategy: () => 50 },
    ...reach,
  } as never);
  client.on("error", () => undefined);
  const kill9 = async (): Promise<void> => {
    signalQuietly(server.pid, "SIGKILL");
    await server.exited;
  };
  const drop = async (): Promise<void> => {
    client.disconnect();
    await kill9();
    rmSync(folder, { recursive: true, force: true });
  };
  const letGo = hold(`Redis ${kind} ${port}`, drop);
  for (const end = Date.now() + 20_000; client.status !== "ready"; await sleep(20))
    if (Date.now() > end) throw new Error(`Redis does not start: see ${folder}/redis.log`);
  return {
    port,
    client,
    kill9,
    freeze: () => signalQuietly(server.pid, "SIGSTOP"),
    thaw: () => signalQuietly(server.pid, "SIGCONT"),
    drop: async () => {
      letGo();
      await drop();
    },
  };
}

/** The clients of a Redis other than the test, replicas and Sentinels, as lines of CLIENT LIST. */
export async function clientsOf({ client }: RedisServer): Promise<string[]> {
  const list = (await client.call("client", "LIST", "TYPE", "normal")) as string;
  return list.split("\n").filter((line) => line !== "" && !/ name=(test|sentinel-)/.test(line));
}

/** An address that leads to one server after another, as that of a failover does. What is connected stays connected. */
export async function openAddress(to: number) {
  let target = to;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const on = connect(target, "127.0.0.1");
    sockets.add(socket);
    const end = (): void => {
      sockets.delete(socket);
      socket.destroy();
      on.destroy();
    };
    for (const one of [socket, on]) one.on("error", end).on("close", end);
    socket.pipe(on).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port: number): void => void (target = port),
    close: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
