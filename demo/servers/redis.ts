import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { serverPassword } from "#demo/servers/password.ts";
import { somePort } from "#demo/servers/port.ts";
import type { PrivateServer, ServerOptions } from "#demo/servers/postgres.ts";
import {
  endServerOf,
  signalQuietly,
  spawnServer,
  type ServerProcess,
} from "#demo/servers/process.ts";
import { findRedis, noRedis } from "#demo/servers/redis-binaries.ts";

/**
 * Starts a Redis of our own on 127.0.0.1 with its data in `folder`, after ending one that an earlier, killed run
 * left there. Throws with a sentence for the user when there is none to start.
 */
export async function startRedis(options: ServerOptions): Promise<PrivateServer> {
  const { folder } = options;
  mkdirSync(folder, { recursive: true });
  const binary = await findRedis(join(folder, "..", "cache"), options.log);
  if (binary === null) throw new Error(noRedis);
  await endLeftover(folder);
  const logFile = join(folder, "redis.log");
  const configFile = join(folder, "redis.conf");
  const { password } = serverPassword(folder);
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await somePort());
    writeFileSync(configFile, configuration(folder, port, password, options), { mode: 0o600 });
    const server = spawnServer(binary.file, [configFile], {
      env: binary.env,
      cwd: folder,
      logFile,
    });
    const url = `redis://:${password}@127.0.0.1:${port}`;
    if (await answers(server, url)) return privateServer(server, { url, port, folder });
    await server.exited;
    // Somebody may have taken the port between the look and the start.
    if (attempt === 3) throw new Error(`Redis does not start: see ${logFile}`);
  }
}

/** Ends a server that a killed run left in `folder` and deletes its data. */
export async function clearRedis(folder: string): Promise<void> {
  await endLeftover(folder);
  rmSync(folder, { recursive: true, force: true });
}

async function endLeftover(folder: string): Promise<void> {
  const file = join(folder, "redis.pid");
  if (!existsSync(file)) return;
  await endServerOf(folder, Number(readFileSync(file, "utf8")), ["SIGTERM"]);
}

function privateServer(
  server: ServerProcess,
  { url, port, folder }: { url: string; port: number; folder: string },
): PrivateServer {
  return {
    url,
    port,
    pid: server.pid,
    exited: server.exited,
    stop: async () => {
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        if (server.hasExited()) return;
        signalQuietly(server.pid, "SIGCONT");
        signalQuietly(server.pid, signal);
        await Promise.race([server.exited, sleep(4000, undefined, { ref: false })]);
      }
    },
    wipe: () => {
      for (const name of ["appendonlydir", "dump.rdb"]) {
        rmSync(join(folder, name), { recursive: true, force: true });
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function configuration(
  folder: string,
  port: number,
  password: string,
  { durable, settings: more }: ServerOptions,
): string {
  const settings: Record<string, string> = {
    bind: "127.0.0.1",
    port: String(port),
    dir: quoted(folder),
    pidfile: quoted(join(folder, "redis.pid")),
    requirepass: password,
    "maxmemory-policy": "noeviction",
    appendonly: durable ? "yes" : "no",
    save: '""',
    daemonize: "no",
    // The folder in the process title is how the next run knows this server as its own.
    "proc-title-template": '"{title} {listen-addr} {config-file}"',
    ...more,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join("");
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

async function answers(server: ServerProcess, url: string): Promise<boolean> {
  for (const until = Date.now() + 30_000; Date.now() < until && !server.hasExited();) {
    if (await pings(url)) return true;
    await sleep(30);
  }
  signalQuietly(server.pid, "SIGKILL");
  return false;
}

async function pings(url: string): Promise<boolean> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    commandTimeout: 2000,
  });
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    // "LOADING" while it reads its file back is an error too.
    return (await redis.ping()) === "PONG";
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
