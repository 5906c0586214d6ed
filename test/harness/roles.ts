import { assembleWeb } from "#api/assemble.ts";
import { somePort } from "#demo/servers/port.ts";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { hold } from "#test/harness/leaks.ts";
import { createLines, tail, within, late, type Lines } from "#test/harness/lines.ts";
import { unwatchWeb, watchWeb } from "#test/harness/watched.ts";
import { assembleWorker } from "#workers/assemble.ts";

/** A role at work, in this process or in one of its own (`test/harness/processes.ts`). */
export interface RunningRole extends Lines {
  role: string;
  /** Where the web role listens. */
  baseUrl: string;
  /** Throws when it takes longer than `timeoutMs` (the roles' own limit is 10 s). */
  stop(timeoutMs?: number): Promise<unknown>;
}

const stopMs = 20_000;

/** Starts a worker role in this process, silently. Answers what stops it. */
export async function startWorker(role: string, config: Config): Promise<() => Promise<void>> {
  const worker = assembleWorker(role, config, createLog({ logLevel: "silent" }, role));
  const letGo = hold(`role ${role}`, () => worker.stop());
  await worker.start();
  return async () => {
    await worker.stop();
    letGo();
  };
}

/**
 * Starts a role of the Procfile in this process: several times cheaper than a process, so for every test that kills and
 * freezes none. Each has connections, memory and a log of its own.
 *
 * @param env its settings, as `createTestInstance` gives them; PORT=0 is replaced by a free port
 */
export async function startRole(role: string, env: Record<string, string>): Promise<RunningRole> {
  const port =
    env["PORT"] === undefined || env["PORT"] === "0" ? await somePort() : Number(env["PORT"]);
  const baseUrl = `http://127.0.0.1:${port}`;
  const config = loadConfig({ BASE_URL: baseUrl, ...env, PORT: String(port) });
  const lines = createLines();
  const log = createLog(config, role, { write: (text) => lines.add(text.trimEnd()) });
  const assembled =
    role === "web" ? assembleWeb(config, { log }) : assembleWorker(role, config, log);
  if (role === "web") watchWeb(baseUrl);
  const letGo = hold(`role ${role}`, () => assembled.stop());
  await assembled.start();
  log.info("ready");
  return {
    role,
    baseUrl,
    lines: lines.lines,
    waitForLine: lines.waitForLine,
    stop: async (timeoutMs = stopMs) => {
      const ended = await within(timeoutMs, assembled.stop());
      if (ended === late)
        throw new Error(`${role} did not stop within ${timeoutMs} ms:\n${tail(lines.lines)}`);
      unwatchWeb(baseUrl);
      letGo();
    },
  };
}
