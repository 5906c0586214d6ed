import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Calls `work` with a new folder, which is removed afterwards. Its name has the number of this process. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `fuelmark-feed-${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the folders of processes that have died. In a container the one before had the number of this one. */
export async function removeLeftFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(/^fuelmark-feed-(\d+)-/.exec(name)?.[1] ?? NaN);
    if (Number.isNaN(pid)) continue;
    const folder = join(tmpdir(), name);
    const since = await stat(folder).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    );
    const isLeft = pid === process.pid ? since < performance.timeOrigin : pid > 0 && !isAlive(pid);
    // Another user's folder stays.
    if (isLeft) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
