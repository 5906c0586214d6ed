import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openRoleLog, type RoleLog } from "#demo/role-log.ts";
import { readProcfile, spawnRole } from "#demo/roles.ts";

export interface RunningRoles {
  /** Rejects when a role ends again and again. */
  failed: Promise<never>;
  /** Resolves when the address answers 200; rejects after a minute. */
  ready(url: string): Promise<void>;
  /** SIGTERM for all, and SIGKILL for those that are there after 6 s. */
  stop(): Promise<void>;
}

const graceMs = 6000;
const mostDeaths = 5;
const deathWindowMs = 60_000;
/** A role that cannot start ends long before; a machine that is slow and busy needs minutes. */
const readyMs = 300_000;

/** Runs every role of the Procfile, and the demo's trickle of marks, until `stop`; one that ends is started again. */
export function runRoles(env: NodeJS.ProcessEnv, logFolder: string): RunningRoles {
  const commands = readProcfile();
  commands.delete("release");
  commands.set("trickle", ["node", "dist/trickle.js"]);

  const children = new Map<string, ChildProcess>();
  let stopping = false;
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });

  const start = (role: string, command: readonly string[], log: RoleLog, deaths: number[]) => {
    const child = spawnRole(command, env);
    children.set(role, child);
    log.follow(child);
    child.once("exit", (code, signal) => {
      children.delete(role);
      if (stopping) return;
      // The trickle has nothing to do when it is switched off or the demo's stations are not shown.
      if (role === "trickle" && code === 0) return;
      log.say(`has ended (${signal ?? `code ${code}`}), starting it again`);
      const recent = [...deaths, Date.now()].filter((at) => at > Date.now() - deathWindowMs);
      if (recent.length >= mostDeaths) {
        fail(new Error(`The ${role} role keeps ending: see ${log.file}`));
        return;
      }
      setTimeout(() => {
        if (!stopping) start(role, command, log, recent);
      }, 500);
    });
  };
  for (const [role, command] of commands) {
    start(role, command, openRoleLog(role, join(logFolder, `${role}.log`)), []);
  }

  return {
    failed,
    ready: async (url) => {
      for (const until = Date.now() + readyMs; Date.now() < until; await sleep(100)) {
        if (stopping || (await answers(url))) return;
      }
      throw new Error(`Nothing answers at ${url} after five minutes: see ${logFolder}`);
    },
    stop: async () => {
      stopping = true;
      const ends = [...children.values()].map(
        (child) => new Promise((done) => child.once("exit", done)),
      );
      for (const child of children.values()) child.kill("SIGTERM");
      await Promise.race([Promise.all(ends), sleep(graceMs, undefined, { ref: false })]);
      for (const child of children.values()) child.kill("SIGKILL");
      await Promise.all(ends);
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
