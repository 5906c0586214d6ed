import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { MirrorState, Store } from "./mirror.ts";

/** Raise it when the file's form changes: an older one then counts as none. */
const version = 1;

/**
 * Keeps a mirror's state in a file, for one mirror at a time. It is written beside it and renamed, so that a crash
 * leaves the old or the new one. A file that cannot be understood counts as none: the mirror starts anew.
 */
export function fileStore(path: string): Store {
  return {
    load: async () => {
      const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw error;
      });
      return text === null ? null : parse(text);
    },
    save: async (state) => {
      await mkdir(dirname(path), { recursive: true });
      const beside = `${path}.new`;
      const file = await open(beside, "w");
      try {
        await file.writeFile(JSON.stringify({ version, ...state }));
        await file.sync();
        await file.close();
        await rename(beside, path);
      } catch (error) {
        await file.close().catch(() => {});
        // Half a file, as on a full disk, would only be in the way.
        await rm(beside, { force: true }).catch(() => {});
        throw error;
      }
    },
  };
}

function parse(text: string): MirrorState | null {
  try {
    const state = JSON.parse(text) as Partial<MirrorState & { version: number }> | null;
    const { asOf, etag = null, stations } = state ?? {};
    const readable =
      state?.version === version && typeof asOf === "string" && Array.isArray(stations);
    return readable ? { asOf, etag, stations } : null;
  } catch {
    return null;
  }
}
