import { join } from "node:path";
import { createInterface } from "node:readline";
import { readProcfile, spawnRole } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import { hold } from "#test/harness/leaks.ts";
import { createLines, late, tail, within } from "#test/harness/lines.ts";
import type { RunningRole } from "#test/harness/roles.ts";
import { unwatchWeb, watchWeb } from "#test/harness/watched.ts";

const readyMs = 60_000;

/** A role in a process of its own, which a test may kill and freeze. */
export interface RoleProcess extends RunningRole {
  pid: number;
  /** Resolves with the exit code, or null after a signal. */
  exited: Promise<number | null>;
  /** SIGTERM, then waits; throws when it is still there after `timeoutMs` (the roles' own limit is 10 s). */
  stop(timeoutMs?: number): Promise<number | null>;
  kill9(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

/**
 * Starts a role of the Procfile, as `npm run build` has bundled it, as a real process and waits for its ready line.
 *
 * @param env its settings, as `createTestInstance` gives them; PORT=0 is replaced by a free port
 * @param folder where it was bundled, if that is another version than this one
 */
export async function startRoleProcess(
  role: string,
  env: Record<string, string>,
  folder = projectRoot,
): Promise<RoleProcess> {
  const command = readProcfile(folder).get(role);
  if (command === undefined) throw new Error(`no role ${role} in the Procfile`);
  const inFolder = command.map((word) => (word.startsWith("dist/") ? join(folder, word) : word));
  const started = await startProcess(role, inFolder, env);
  if (role === "web") watchWeb(started.baseUrl, folder === projectRoot ? "shared" : "own");
  if (role !== "release") await started.waitForLine(/\bready\b/, readyMs);
  return started;
}

/** Starts any `node …` command of this project as `startRoleProcess` does, without waiting for it to be ready. */
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
  const output = createLines(exited);
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on("line", output.add);
  }
  const letGo = hold(`process ${pid} (${name})`, async () => {
    child.kill("SIGKILL");
    await exited;
  });
  void exited.then(letGo);
  void exited.then(() => unwatchWeb(baseUrl));
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
    waitForLine: output.waitForLine,
    stop: async (timeoutMs = 30_000) => {
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
