import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { run } from "#demo/servers/command.ts";
import { librariesOf, unpackPackages } from "#demo/servers/debian.ts";

/** A redis-server that has shown its version, with the environment it needs. */
export interface RedisBinary {
  file: string;
  env: Record<string, string>;
}

export const noRedis =
  "No Redis 6.2 or newer found: install it with `brew install redis` (macOS) or `sudo apt-get install redis-server` (Debian, Ubuntu), " +
  "or start one with `docker run -d -p 6379:6379 redis:7` (Windows and everywhere else) and set REDIS_URL=redis://localhost:6379, then run this again.";

/**
 * A redis-server from PATH or the usual folders, else one that an earlier run unpacked, else one that apt-get
 * downloads now; none of it needs root. Null when there is none.
 *
 * @param fallback folder for the unpacked files when the user's cache folder cannot be written
 */
export async function findRedis(
  fallback: string,
  log: (line: string) => void,
): Promise<RedisBinary | null> {
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    "/opt/homebrew/bin",
    "/usr/local/bin",
  ];
  for (const folder of folders.filter((name) => name !== "")) {
    for (const name of ["redis-server", "valkey-server"]) {
      const file = join(folder, name);
      if (existsSync(file) && (await works({ file, env: {} }))) return { file, env: {} };
    }
  }
  if (process.platform !== "linux") return null;
  const cache = writableFolder([join(userCache(), "fuelmark"), fallback]);
  if (cache === null) return null;
  return (await unpacked(cache)) ?? (await download(cache, log));
}

async function works({ file, env }: RedisBinary): Promise<boolean> {
  const { ok, stdout } = await run(file, ["--version"], { env, timeoutMs: 10_000 });
  const [, major = 0, minor = 0] = /v=(\d+)\.(\d+)/.exec(stdout) ?? [];
  return ok && (Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2));
}

const userCache = (): string => process.env.XDG_CACHE_HOME || join(homedir(), ".cache");

function writableFolder(folders: readonly string[]): string | null {
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true });
      rmSync(mkdtempSync(join(folder, "probe-")), { recursive: true });
      return folder;
    } catch {
      // The next one, then.
    }
  }
  return null;
}

async function unpacked(cache: string): Promise<RedisBinary | null> {
  const root = join(cache, `redis-${process.arch}`);
  const file = join(root, "usr", "bin", "redis-server");
  if (!existsSync(file)) return null;
  const binary = { file: realpathSync(file), env: librariesOf(root) };
  // Debian's redis-server is a link to redis-check-rdb, which looks at its own name.
  const named = { ...binary, file };
  return (await works(named)) ? named : null;
}

async function download(cache: string, log: (line: string) => void): Promise<RedisBinary | null> {
  log("Downloading Redis (apt-get, without installing it)");
  const target = join(cache, `redis-${process.arch}`);
  return (await unpackPackages(["redis-server", "redis-tools"], target)) ? unpacked(cache) : null;
}
