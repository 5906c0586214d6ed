import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { hashOf } from "#demo/bundle.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

const run = promisify(execFile);
const client = join(projectRoot, "client");
const compiler = join(projectRoot, "node_modules", "typescript", "bin", "tsc");

/**
 * Makes `dist/client.tgz`, what `npm pack` gives of the client, for the web role to serve. With `ifChanged` only when
 * the client or a package has changed since the last time.
 */
export async function packClient(ifChanged: boolean, log: (line: string) => void): Promise<void> {
  const dist = join(projectRoot, "dist");
  const [made, stampFile] = [join(dist, "client.tgz"), join(dist, "client-made-from")];
  const sources = readdirSync(client).filter((name) => /\.\w+$/.test(name));
  const stamp = hashOf([
    ...sources.map((name) => join("client", name)),
    "tsconfig.json",
    "package-lock.json",
  ]);
  const before = existsSync(made) && existsSync(stampFile) ? readFileSync(stampFile, "utf8") : "";
  if (ifChanged && before === stamp) return;
  const startedAt = performance.now();
  const fresh = join(dist, `.client-${process.pid}`);
  mkdirSync(fresh, { recursive: true });
  try {
    for (const name of ["package.json", "README.md", "LICENSE"])
      copyFileSync(join(client, name), join(fresh, name));
    const project = join(client, "tsconfig.json");
    await run(process.execPath, [compiler, "-p", project, "--outDir", join(fresh, "dist")]);
    // What `prepack` would do is done.
    await npm(["pack", "--ignore-scripts", "--silent"], fresh);
    const [packed] = readdirSync(fresh).filter((name) => name.endsWith(".tgz"));
    renameSync(join(fresh, packed!), made);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  writeFileSync(stampFile, stamp);
  log(`Packed the client in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

function npm(args: readonly string[], cwd: string): Promise<unknown> {
  const path = process.env.npm_execpath;
  if (path?.endsWith(".js")) return run(process.execPath, [path, ...args], { cwd });
  return run("npm", args, { cwd, shell: process.platform === "win32" });
}
