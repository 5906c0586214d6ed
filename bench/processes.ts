import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import pg from "pg";
import { spawnRole } from "#demo/roles.ts";
import type { Job, Measured } from "#bench/load/main.ts";

export interface Server {
  pid: number;
  stop(): Promise<void>;
}

/**
 * Starts a `node …` command and waits for its ready line; `profileTo` is a folder for its CPU profile, `hear` gets
 * each line that it logs.
 */
export async function startServer(
  command: readonly string[],
  env: Record<string, string>,
  profileTo?: string,
  hear?: (line: string) => void,
): Promise<Server> {
  const at = command.indexOf("node") + 1;
  const profiling =
    profileTo === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(profileTo)}`];
  const { PATH, HOME } = process.env;
  const child = spawnRole([...command.slice(0, at), ...profiling, ...command.slice(at)], {
    PATH,
    HOME,
    ...env,
  });
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  let tail = "";
  const outputs = [child.stdout!, child.stderr!];
  await new Promise<void>((ready, fail) => {
    const look = (chunk: Buffer): void => {
      tail = (tail + chunk.toString()).slice(-4000);
      if (!/"msg":"ready"/.test(tail)) return;
      // Looking at each line of an access log would take the machine's time from what is measured.
      for (const output of outputs) output.off("data", look).resume();
      ready();
    };
    for (const output of outputs) output.on("data", look);
    if (hear !== undefined) createInterface({ input: child.stdout! }).on("line", hear);
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

export interface Generator<Job, Result> {
  run(job: Job): Promise<Result>;
  stop(): void;
}

export type Load = Generator<Job, Measured>;

/** Starts the load generator of marks; `countryFile` holds a Country as JSON. */
export const startLoad = (countryFile: string): Load => startGenerator("main", [countryFile]);

/** Starts a load generator of `bench/load`, a process of its own that takes one job at a time. */
export function startGenerator<Job, Result>(
  name: string,
  args: readonly string[] = [],
): Generator<Job, Result> {
  const child: ChildProcess = fork(
    fileURLToPath(new URL(`load/${name}.ts`, import.meta.url)),
    args,
    { execArgv: ["--import", "tsx"] },
  );
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        const lost = (): void => reject(new Error("the load generator ended"));
        child.once("exit", lost);
        child.once("message", (measured) => {
          child.off("exit", lost);
          resolve(measured as Result);
        });
        child.send(job as object);
      }),
    // One that failed has ended by itself.
    stop: () => void (child.connected && child.disconnect()),
  };
}

/** Memory that a process holds now. */
export const rssMb = (pid: number): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024;

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
