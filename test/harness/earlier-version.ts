import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, type CommandOptions } from "#demo/servers/command.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import { hold } from "#test/harness/leaks.ts";

/** An earlier version of this project, built in a folder of its own. */
export interface EarlierVersion {
  /** The commit, and its subject. */
  name: string;
  folder: string;
  drop(): void;
}

/**
 * Builds the version before the newest migration, or the commit that `UPGRADE_FROM` names. Null without the repository's
 * history.
 */
export async function buildEarlierVersion(): Promise<EarlierVersion | null> {
  const commit = process.env["UPGRADE_FROM"] ?? (await beforeNewestMigration());
  if (commit === null) return null;
  const name = await git("log", "-1", "--format=%h %s", commit);
  if (name === null) throw new Error(`UPGRADE_FROM: there is no commit ${commit} here`);
  const folder = mkdtempSync(join(tmpdir(), "fuelmark-earlier-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const letGo = hold(`folder ${folder}`, remove);
  const archive = join(folder, "archive.tar");
  await must("git", ["archive", "--output", archive, commit], { cwd: projectRoot });
  await must("tar", ["-xf", archive, "-C", folder]);
  await installIn(folder);
  const build = ["--import", "tsx", "demo/build.ts", "roles"];
  await must(process.execPath, build, { cwd: folder, timeoutMs: 300_000 });
  return {
    name,
    folder,
    drop: () => {
      letGo();
      remove();
    },
  };
}

async function beforeNewestMigration(): Promise<string | null> {
  const newest = await git("log", "-1", "--diff-filter=A", "--format=%H", "--", "migrations/*.ts");
  return newest === null ? null : git("rev-parse", "--verify", "--quiet", `${newest}^`);
}

/** The packages of this version, if it needs the same ones. */
async function installIn(folder: string): Promise<void> {
  const lock = (of: string): string => readFileSync(join(of, "package-lock.json"), "utf8");
  if (lock(folder) === lock(projectRoot))
    symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  else await must("npm", ["ci"], { cwd: folder, timeoutMs: 300_000 });
}

/** What git prints; null when it fails or has nothing to print. */
async function git(...args: string[]): Promise<string | null> {
  if (!existsSync(join(projectRoot, ".git"))) return null;
  const { ok, stdout } = await run("git", args, { cwd: projectRoot });
  return ok ? stdout.trim() || null : null;
}

async function must(file: string, args: string[], options: CommandOptions = {}): Promise<void> {
  const { ok, stderr } = await run(file, args, options);
  if (!ok) throw new Error(`${file} ${args.join(" ")}: ${stderr}`);
}
