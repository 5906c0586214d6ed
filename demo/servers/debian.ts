import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { run } from "#demo/servers/command.ts";

/** The environment in which programs of the unpacked packages in `root` find the libraries that came with them. */
export function librariesOf(root: string): Record<string, string> {
  const lib = join(root, "usr", "lib");
  if (!existsSync(lib)) return { LD_LIBRARY_PATH: "" };
  const folders = [lib, ...readdirSync(lib).map((name) => join(lib, name))];
  return { LD_LIBRARY_PATH: folders.join(delimiter) };
}

/**
 * Debian's and Ubuntu's packages with those of their libraries that the system lacks, taken apart into `target` instead
 * of installed: apt-get with folders of our own needs no root. False when they cannot be had.
 */
export async function unpackPackages(names: readonly string[], target: string): Promise<boolean> {
  if (!(await run("apt-get", ["--version"])).ok || !(await run("dpkg-deb", ["--version"])).ok)
    return false;
  const work = mkdtempSync(join(dirname(target), "apt-"));
  try {
    const archives = await fetchPackages(names, work);
    if (archives === null) return false;
    const root = join(work, "root");
    mkdirSync(root);
    for (const name of readdirSync(archives).filter((each) => each.endsWith(".deb"))) {
      const { ok } = await run("dpkg-deb", ["-x", join(archives, name), root]);
      if (!ok) return false;
    }
    rmSync(target, { recursive: true, force: true });
    renameSync(root, target);
  } catch (error) {
    // Two clones at once: the other one's folder came first, and it is as good.
    if (!["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return true;
}

/** The folder with the archives; null when apt-get cannot get them. */
async function fetchPackages(names: readonly string[], work: string): Promise<string | null> {
  const archives = join(work, "archives");
  mkdirSync(join(archives, "partial"), { recursive: true });
  mkdirSync(join(work, "lists", "partial"), { recursive: true });
  const options = [
    "-qq",
    "-y",
    ...["Debug::NoLocking=1", "APT::Sandbox::User=root", `Dir::Cache=${work}`].flatMap(option),
    ...option(`Dir::Cache::archives=${archives}`),
  ];
  // All are fetched even when dpkg has them on record: they do not work, or they would not be needed here.
  const flags = ["--download-only", "--reinstall", "--no-install-recommends"];
  const get = ["install", ...flags, ...names];
  // The system's own package lists are the fastest; they may be missing or too old.
  if ((await apt([...options, ...get])).ok) return archives;
  const own = [...options, ...option(`Dir::State::lists=${join(work, "lists")}`)];
  // One broken foreign source fails the update, and what is wanted may still be among the rest.
  await apt([...own, "update"]);
  return (await apt([...own, ...get])).ok ? archives : null;
}

const option = (setting: string): string[] => ["-o", setting];

const apt = (args: readonly string[]) =>
  run("apt-get", args, { timeoutMs: 180_000, env: { DEBIAN_FRONTEND: "noninteractive" } });
