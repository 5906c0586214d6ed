import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startPostgres, type PrivateServer, type ServerOptions } from "#demo/servers/postgres.ts";
import { isGone, signalQuietly } from "#demo/servers/process.ts";
import { startRedis } from "#demo/servers/redis.ts";
import { hold } from "#test/harness/leaks.ts";
import { provided } from "#test/harness/provided.ts";

/** A server that belongs to one test, which may kill, freeze, wipe and restart it. The URL stays the same. */
export interface OwnServer {
  url: string;
  pid(): number;
  /** Stops it in order, data kept. */
  stop(): Promise<void>;
  kill9(): Promise<void>;
  /** Stops it without its noticing: connections stay open and nothing answers. */
  freeze(): void;
  thaw(): void;
  /** Starts it again after `stop` or `kill9`, on the same port and data; `wiped` for a new, empty one. */
  restart(how?: { wiped?: boolean }): Promise<void>;
  /** Ends it and deletes its data. */
  drop(): Promise<void>;
}

/** A Redis for one test, with AOF when `durable`, and with these `settings` of its configuration. */
export const startPrivateRedis = (
  options: { durable?: boolean; settings?: Record<string, string> } = {},
): Promise<OwnServer> => ownServer(startRedis, "redis", options);

/** An empty Postgres for one test; migrate it with the release role. */
export const startPrivatePostgres = (
  options: { durable?: boolean; env?: Record<string, string> } = {},
): Promise<OwnServer> => ownServer(startPostgres, "postgres", options);

async function ownServer(
  start: (options: ServerOptions) => Promise<PrivateServer>,
  name: string,
  more: Partial<ServerOptions>,
): Promise<OwnServer> {
  const folder = join(provided("TEST_DATA"), `${name}-${randomBytes(4).toString("hex")}`);
  const options = { folder, durable: false, log: () => undefined, ...more };
  let server = await start(options);
  const { port, url } = server;
  // A frozen child would outlive its parent's stop.
  const stop = async () => {
    thawAll(server.pid);
    await server.stop();
  };
  const drop = async () => {
    await stop();
    server.remove();
  };
  const letGo = hold(`private ${name} server`, drop);
  return {
    url,
    pid: () => server.pid,
    stop,
    kill9: async () => {
      const family = [server.pid, ...childrenOf(server.pid)];
      for (const pid of family) signalQuietly(pid, "SIGKILL");
      for (const pid of family) await isGone(pid, 5000);
    },
    freeze: () => {
      // The parent first, or it would start new children meanwhile.
      signalQuietly(server.pid, "SIGSTOP");
      for (const pid of childrenOf(server.pid)) signalQuietly(pid, "SIGSTOP");
    },
    thaw: () => thawAll(server.pid),
    restart: async ({ wiped = false } = {}) => {
      await stop();
      if (wiped) server.wipe();
      server = await start({ ...options, port });
      if (server.url !== url) throw new Error("a restarted server must keep its URL");
    },
    drop: async () => {
      letGo();
      await drop();
    },
  };
}

function thawAll(pid: number): void {
  for (const each of [...childrenOf(pid), pid]) signalQuietly(each, "SIGCONT");
}

/** Direct children, as Postgres's backends are of the postmaster. Linux only, as the fault tests are. */
function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => parentOf(candidate) === pid);
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may hold spaces and parentheses itself.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}
