import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Ran {
  code: number | null;
  out: string;
  err: string;
  /** What was printed with --json; null without it. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what a command printed, looked at field by field
  json: any;
}

/** Runs the operator's command line as an operator does, on the instance that `env` names. */
export const runOperator = (env: Record<string, string>, ...args: string[]): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--import", "tsx", "cli/main.ts", ...args], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
    child.stderr.on("data", (piece: Buffer) => (err += piece.toString()));
    child.on("error", reject);
    child.on("close", (code) => {
      const json: unknown = args.includes("--json") ? JSON.parse(out) : null;
      resolve({ code, out, err, json });
    });
  });
