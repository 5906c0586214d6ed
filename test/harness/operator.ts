import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { operate } from "#cli/operate.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

export interface Ran {
  code: number | null;
  out: string;
  err: string;
  /** What was printed with --json; null without it. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what a command printed, looked at field by field
  json: any;
}

/** Runs the operator's command line in this process, on the instance that `env` names. */
export async function runOperator(env: Record<string, string>, ...args: string[]): Promise<Ran> {
  return answerInput(env, "", ...args);
}

/** As `runOperator`, with `input` on its stdin. */
export async function answerInput(
  env: Record<string, string>,
  input: string,
  ...args: string[]
): Promise<Ran> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(input);
  const code = await operate(args, { env: { ...process.env, ...env }, stdin, stdout, stderr });
  const [out, err] = [stdout, stderr].map((stream) => String(stream.read() ?? ""));
  return ranOf(args, code, out ?? "", err ?? "");
}

/** Runs the bundled command line as an operator does, in a process of its own. */
export const spawnOperator = (env: Record<string, string>, ...args: string[]): Promise<Ran> =>
  spawnOperatorOf(projectRoot, env, ...args);

/** The same of the version that was bundled in this folder. */
export const spawnOperatorOf = (
  folder: string,
  env: Record<string, string>,
  ...args: string[]
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["cli/operator.mjs", ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
    child.stderr.on("data", (piece: Buffer) => (err += piece.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve(ranOf(args, code, out, err)));
  });

function ranOf(args: readonly string[], code: number | null, out: string, err: string): Ran {
  const json: unknown = args.includes("--json") ? JSON.parse(out) : null;
  return { code, out, err, json };
}
