import { type ChildProcess, fork } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import pg from "pg";
import { spawnRole } from "#demo/roles.ts";
import type { Job, Measured } from "#bench/load/main.ts";

export interface Server {
  pid: number;
  stop(): Promise<void>;
}

/** Starts a `node …` command and waits for its ready line; `profileTo` is a folder for its CPU profile. */
export async function startServer(
  command: readonly string[],
  env: Record<string, string>,
  profileTo?: string,
): Promise<Server> {
  const [program = "", ...args] = command;
  const profiling =
    profileTo === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(profileTo)}`];
  const { PATH, HOME } = process.env;
  const child = spawnRole([program, ...profiling, ...args], { PATH, HOME, ...env });
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  let tail = "";
  await new Promise<void>((ready, fail) => {
    const look = (chunk: Buffer): void => {
      tail = (tail + chunk.toString()).slice(-4000);
      if (/"msg":"ready"/.test(tail)) ready();
    };
    child.stdout!.on("data", look);
    child.stderr!.on("data", look);
    void exited.then(() => fail(new Error(`${command.join(" ")} ended:\n${tail}`)));
  });
  return {
    pid: child.pid!,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

export interface Load {
  run(job: Job): Promise<Measured>;
  stop(): void;
}

/** Starts the load generator; `countryFile` holds a Country as JSON. */
export function startLoad(countryFile: string): Load {
  const child: ChildProcess = fork(
    fileURLToPath(new URL("load/main.ts", import.meta.url)),
    [countryFile],
    { execArgv: ["--import", "tsx"] },
  );
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        const lost = (): void => reject(new Error("the load generator ended"));
        child.once("exit", lost);
        child.once("message", (measured) => {
          child.off("exit", lost);
          resolve(measured as Measured);
        });
        child.send(job);
      }),
    stop: () => child.disconnect(),
  };
}

/** Reads how much CPU time processes have used, ms; null where that cannot be seen. */
export interface CpuMeter {
  of(pids: readonly number[]): number | null;
  /** Postgres with all its backends, ended ones included. */
  postgres(): number | null;
  redis(): number | null;
}

/** Finds the servers' processes by asking them, which works for given servers on this machine as well. */
export async function createCpuMeter(databaseUrl: string, redisUrl: string): Promise<CpuMeter> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const backend = (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]!;
  const postmaster = readStat(backend.pid)?.parent ?? 0;
  await client.end();
  const redis = new Redis(redisUrl);
  const redisPid = Number(/process_id:(\d+)/.exec(await redis.info("server"))?.[1] ?? 0);
  redis.disconnect();
  const of = (pids: readonly number[]): number | null => {
    const stats = pids.map(readStat);
    return stats.some((stat) => stat === null)
      ? null
      : stats.reduce((total, stat) => total + stat!.ownMs, 0);
  };
  return {
    of,
    postgres: () => {
      const parent = readStat(postmaster);
      if (parent === null) return null;
      const children = readdirSync("/proc").filter(
        (name) => /^\d+$/.test(name) && readStat(Number(name))?.parent === postmaster,
      );
      return parent.ownMs + parent.endedMs + (of(children.map(Number)) ?? 0);
    },
    redis: () => of([redisPid]),
  };
}

const tickMs = 10;

function readStat(pid: number): { parent: number; ownMs: number; endedMs: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may hold spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = (from: number): number => Number(fields[from]) + Number(fields[from + 1]);
    return { parent: Number(fields[1]), ownMs: ticks(11) * tickMs, endedMs: ticks(13) * tickMs };
  } catch {
    return null;
  }
}
