import { spawn } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isGone, signalQuietly } from "#demo/servers/process.ts";
import { hold } from "#test/harness/leaks.ts";

export interface Started {
  pid: number;
  /** All that it has printed so far. */
  output(): string;
  /** Waits for a text; throws with the output when it ends or `timeoutMs` pass before. */
  waitFor(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal's name. */
  exited: Promise<number | string | null>;
}

export interface Clone {
  folder: string;
  /** Runs `npm start`'s program there, in the environment of a newcomer and `env`; `args` are what follows `--`. */
  start(env?: Record<string, string>, args?: readonly string[]): Started;
  /** The processes that run in or from this folder, as `pid command line`. */
  processes(): string[];
  /** Kills what is left and deletes the folder. */
  drop(): Promise<void>;
}

const leftOut = new Set(["node_modules", ".git", ".data"]);

/** A copy of this project in a new folder, without any data, sharing the installed packages. */
export function cloneProject(): Clone {
  const folder = mkdtempSync(join(tmpdir(), "fuelmark-clone-"));
  for (const name of readdirSync(".").filter((each) => !leftOut.has(each))) {
    cpSync(name, join(folder, name), { recursive: true });
  }
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const drop = async () => {
    for (const pid of processesOf(folder).map((line) => Number.parseInt(line, 10))) {
      signalQuietly(pid, "SIGKILL");
      await isGone(pid, 5000);
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const letGo = hold(`clone ${folder}`, drop);
  return {
    folder,
    start: (env = {}, args = []) => start(folder, env, args),
    processes: () => processesOf(folder),
    drop: async () => {
      letGo();
      await drop();
    },
  };
}

function start(folder: string, env: Record<string, string>, args: readonly string[]): Started {
  const child = spawn(process.execPath, ["demo/start.mjs", ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  let ended = false;
  const exited = new Promise<number | string | null>((done) => {
    child.once("exit", (code, signal) => {
      ended = true;
      done(code ?? signal);
    });
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    waitFor: async (pattern, timeoutMs = 400_000) => {
      for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(50)) {
        const found = pattern.exec(output);
        if (found !== null) return found;
        if (ended) break;
      }
      throw new Error(`no ${String(pattern)} in the launcher's output:\n${output}`);
    },
    signal: (name) => void child.kill(name),
    exited,
  };
}

function processesOf(folder: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      const cwd = readlinkSync(`/proc/${pid}/cwd`);
      const inside = line.includes(folder) || `${cwd}/`.startsWith(`${folder}/`);
      return inside && line !== "" ? [`${pid} ${line}`] : [];
    } catch {
      // It has ended meanwhile, or it is somebody else's.
      return [];
    }
  });
}
