import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, openSync, readFileSync, closeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "#demo/servers/command.ts";
import type { Identity } from "#demo/servers/identity.ts";

export interface ServerProcess {
  pid: number;
  /** Resolves when the process is gone, whoever ended it. */
  exited: Promise<void>;
  hasExited(): boolean;
}

/**
 * Spawns a server in a process group of its own, so that a Ctrl-C in the terminal does not reach it before the
 * roles that need it have stopped. Its output goes to `logFile`.
 */
export function spawnServer(
  file: string,
  args: readonly string[],
  options: { identity?: Identity; env?: Record<string, string>; cwd: string; logFile: string },
): ServerProcess {
  const command = options.identity?.wrap(file, args) ?? { file, args: [...args], as: {} };
  mkdirSync(dirname(options.logFile), { recursive: true });
  const output = openSync(options.logFile, "a");
  const child = spawn(command.file, command.args, {
    ...command.as,
    cwd: options.cwd,
    detached: true,
    stdio: ["ignore", output, output],
    env: { ...process.env, ...options.env },
    windowsHide: true,
  });
  closeSync(output);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  return {
    pid: child.pid ?? 0,
    exited,
    hasExited: () => child.pid === undefined || hasEnded(child),
  };
}

const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

/**
 * Ends the process `pid` if it is a server of `folder`: the folder stands in its command line. A pid alone proves
 * nothing, it may belong to a stranger by now. Answers whether there was one.
 */
export async function endServerOf(
  folder: string,
  pid: number,
  signals: readonly NodeJS.Signals[],
): Promise<boolean> {
  // The space before: /a/.data must not be found in /b/a/.data.
  if (!(await commandLine(pid)).includes(` ${folder}`)) return false;
  for (const signal of [...signals, "SIGKILL" as const]) {
    signalQuietly(pid, "SIGCONT");
    signalQuietly(pid, signal);
    if (await isGone(pid, 5000)) return true;
  }
  throw new Error(`process ${pid}, a server of ${folder}, cannot be stopped: end it by hand`);
}

/** True as soon as no such process is left; false after `timeoutMs`. */
export async function isGone(pid: number, timeoutMs: number): Promise<boolean> {
  for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(20)) {
    if (!isAlive(pid)) return true;
  }
  return !isAlive(pid);
}

/** True while the process exists; a zombie that nobody has collected yet does not count. */
export function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return process.platform !== "linux";
  }
}

/** Sends a signal; a process that is gone already is no error. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone, which is what a signal to a server is for.
  }
}

async function commandLine(pid: number): Promise<string> {
  if (!isAlive(pid)) return "";
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return (await run("ps", ["-ww", "-o", "args=", "-p", String(pid)])).stdout;
  }
}
