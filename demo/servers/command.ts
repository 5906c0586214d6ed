import { execFile } from "node:child_process";
import type { Identity } from "#demo/servers/identity.ts";

export interface Outcome {
  ok: boolean;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  identity?: Identity;
  cwd?: string;
  env?: Record<string, string>;
  timeoutMs?: number;
}

/** Runs a program to its end. Never throws: a missing program or a timeout is `ok: false` with the reason in stderr. */
export function run(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<Outcome> {
  const command = options.identity?.wrap(file, args) ?? { file, args: [...args], as: {} };
  return new Promise((resolve) => {
    execFile(
      command.file,
      command.args,
      {
        ...command.as,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        env: { ...process.env, ...options.env },
        timeout: options.timeoutMs ?? 60_000,
        maxBuffer: 16 * 1024 * 1024,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        resolve({
          ok: error === null,
          stdout,
          stderr: error === null ? stderr : `${stderr}\n${error.message}`.trim(),
        });
      },
    );
  });
}
