import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const beginning = "fuelmark-feed-";
/** Those of runs in this process. */
const own = new Set<string>();

/** Calls `work` with a new folder, which is removed afterwards. Its name has the number of this process. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `${beginning}${process.pid}-`));
  own.add(folder);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    own.delete(folder);
  }
}

/** Removes the folders of processes that have died. */
export async function removeLeftFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^fuelmark-feed-(\d+)-/.exec(name) ?? [];
    const folder = join(tmpdir(), name);
    if (pid === undefined || own.has(folder) || isAlive(Number(pid))) continue;
    // Another user's folder stays.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** True for another process that runs. In a container the process before had the number of this one. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
