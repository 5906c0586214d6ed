import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { run } from "#demo/servers/command.ts";

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
  const lib = join(root, "usr", "lib");
  const libraries = existsSync(lib)
    ? [lib, ...readdirSync(lib).map((name) => join(lib, name))].join(delimiter)
    : "";
  const binary = { file: realpathSync(file), env: { LD_LIBRARY_PATH: libraries } };
  // Debian's redis-server is a link to redis-check-rdb, which looks at its own name.
  const named = { ...binary, file };
  return (await works(named)) ? named : null;
}

/** Debian's and Ubuntu's package, taken apart instead of installed: apt-get with folders of our own needs no root. */
async function download(cache: string, log: (line: string) => void): Promise<RedisBinary | null> {
  if (!(await run("apt-get", ["--version"])).ok || !(await run("dpkg-deb", ["--version"])).ok) {
    return null;
  }
  log("Downloading Redis (apt-get, without installing it)");
  const work = mkdtempSync(join(cache, "apt-"));
  try {
    const archives = await fetchPackages(work);
    if (archives === null) return null;
    const root = join(work, "root");
    mkdirSync(root);
    for (const name of readdirSync(archives).filter((each) => each.endsWith(".deb"))) {
      const { ok } = await run("dpkg-deb", ["-x", join(archives, name), root]);
      if (!ok) return null;
    }
    const target = join(cache, `redis-${process.arch}`);
    rmSync(target, { recursive: true, force: true });
    renameSync(root, target);
  } catch (error) {
    // Two clones at once: the other one's folder came first, and it is as good.
    if (!["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return unpacked(cache);
}

/** The folder with redis-server and those of its libraries that the system lacks; null when apt-get cannot get them. */
async function fetchPackages(work: string): Promise<string | null> {
  const archives = join(work, "archives");
  mkdirSync(join(archives, "partial"), { recursive: true });
  mkdirSync(join(work, "lists", "partial"), { recursive: true });
  const options = [
    "-qq",
    "-y",
    ...["Debug::NoLocking=1", "APT::Sandbox::User=root", `Dir::Cache=${work}`].flatMap(option),
    ...option(`Dir::Cache::archives=${archives}`),
  ];
  // Both are fetched even when dpkg has them on record: they do not work, or they would not be needed here.
  const flags = ["--download-only", "--reinstall", "--no-install-recommends"];
  const get = ["install", ...flags, "redis-server", "redis-tools"];
  // The system's own package lists are the fastest; they may be missing or too old.
  if ((await apt([...options, ...get])).ok) return archives;
  const own = [...options, ...option(`Dir::State::lists=${join(work, "lists")}`)];
  // One broken foreign source fails the update, and Redis may still be among the rest.
  await apt([...own, "update"]);
  return (await apt([...own, ...get])).ok ? archives : null;
}

const option = (setting: string): string[] => ["-o", setting];

const apt = (args: readonly string[]) =>
  run("apt-get", args, { timeoutMs: 180_000, env: { DEBIAN_FRONTEND: "noninteractive" } });
