import { createHash } from "node:crypto";
import { existsSync, mkdirSync, statfsSync } from "node:fs";
import { join, resolve } from "node:path";

const memory = "/dev/shm";
/** What the servers of a run may need at most, several times over. */
const neededBytes = 4 * 1024 ** 3;

/**
 * A folder in memory for what a run of the tests throws away again, always the same for the same `folder`; that one
 * itself where there is no such memory, or too little. A database is made and dropped for every test file, each of some
 * 600 files: a file system on a disk takes twice the processor's time for that.
 */
export function memoryFolder(folder: string): string {
  if (!existsSync(memory)) return folder;
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < neededBytes) return folder;
  const key = createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 12);
  const place = join(memory, `fuelmark-${key}`);
  try {
    mkdirSync(place, { recursive: true });
    return place;
  } catch {
    return folder;
  }
}
