import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { readProcfile, spawnRole } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { hold } from "#test/harness/leaks.ts";
import { watchWeb } from "#test/harness/watched.ts";

export interface RoleProcess {
  role: string;
  pid: number;
  /** Where the web role listens. */
  baseUrl: string;
  /** Everything it has printed, a line each. */
  lines: string[];
  /** Resolves with the exit code, or null after a signal. */
  exited: Promise<number | null>;
  /** The first line that matches, past ones included. Throws after `timeoutMs` or when the process ends before. */
  waitForLine(pattern: RegExp, timeoutMs?: number): Promise<string>;
  /** SIGTERM, then waits; throws when it is still there after `timeoutMs` (the roles' own limit is 10 s). */
  stop(timeoutMs?: number): Promise<number | null>;
  kill9(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

/**
 * Starts a role of the Procfile as a real process and waits for its ready line.
 *
 * @param env its settings, as `createTestInstance` gives them; PORT=0 is replaced by a free port
 */
export async function startRole(
  role: string,
  env: Record<string, string>,
  readyMs = 20_000,
): Promise<RoleProcess> {
  const command = readProcfile().get(role);
  if (command === undefined) throw new Error(`no role ${role} in the Procfile`);
  const started = await startProcess(role, command, env);
  if (role === "web") watchWeb(started.baseUrl);
  if (role !== "release") await started.waitForLine(/\bready\b/, readyMs);
  return started;
}

/** Starts any `node …` command of this project as `startRole` does, without waiting for it to be ready. */
export async function startProcess(
  name: string,
  command: readonly string[],
  env: Record<string, string>,
): Promise<RoleProcess> {
  const port = env.PORT === undefined || env.PORT === "0" ? await somePort() : Number(env.PORT);
  const baseUrl = `http://127.0.0.1:${port}`;
  const child = spawnRole(command, {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    BASE_URL: baseUrl,
    ...env,
    PORT: String(port),
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${name} could not be spawned`);
  const exited = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => resolve(code));
  });
  const output = collectLines(child);
  const letGo = hold(`process ${pid} (${name})`, async () => {
    child.kill("SIGKILL");
    await exited;
  });
  void exited.then(letGo);
  // Should this process die before the end of the run: a frozen child would not notice.
  const killAtExit = () => child.kill("SIGKILL");
  process.once("exit", killAtExit);
  void exited.then(() => process.removeListener("exit", killAtExit));

  return {
    role: name,
    pid,
    baseUrl,
    lines: output.lines,
    exited,
    waitForLine: (pattern, timeoutMs = 10_000) => output.waitFor(pattern, timeoutMs, exited),
    stop: async (timeoutMs = 11_000) => {
      child.kill("SIGTERM");
      const code = await within(timeoutMs, exited);
      if (code === late)
        throw new Error(`${name} did not stop within ${timeoutMs} ms:\n${tail(output.lines)}`);
      return code;
    },
    kill9: async () => {
      child.kill("SIGKILL");
      await exited;
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
  };
}

function collectLines(child: ChildProcess) {
  const lines: string[] = [];
  const watchers = new Set<(line: string) => void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      for (const watch of watchers) watch(line);
    });
  }
  const waitFor = async (
    pattern: RegExp,
    timeoutMs: number,
    exited: Promise<unknown>,
  ): Promise<string> => {
    const past = lines.find((line) => pattern.test(line));
    if (past !== undefined) return past;
    let watch: (line: string) => void = () => undefined;
    const found = new Promise<string>((resolve) => {
      watch = (line) => {
        if (pattern.test(line)) resolve(line);
      };
      watchers.add(watch);
    });
    const line = await within(timeoutMs, Promise.race([found, exited.then(() => null)]));
    watchers.delete(watch);
    if (typeof line === "string") return line;
    const why = line === late ? `within ${timeoutMs} ms` : "before it ended";
    throw new Error(`no line like ${String(pattern)} ${why}:\n${tail(lines)}`);
  };
  return { lines, waitFor };
}

const late = Symbol("late");

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | typeof late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

const tail = (lines: readonly string[]): string => lines.slice(-20).join("\n");
