import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import type { Config } from "#src/infrastructure/config.ts";
import { type Fetched, store, type Target } from "#workers/imports/fetch.ts";

/**
 * Copies the newest file below FEEDS_FOLDER whose name matches `path`, in whose file name `*` stands for any letters;
 * null when its name, size and time are those of `before`. Rejects with a sentence as its message.
 */
export async function copyNewest(
  { feedsFolder, feedBytes }: Config,
  path: string,
  { to, before, stop: signal, onBytes }: Target,
): Promise<Fetched> {
  if (feedsFolder === "")
    throw new Error("FEEDS_FOLDER is not set for the role `imports`: it reads no files of folders");
  const root = await realpath(feedsFolder);
  const folder = await realpath(join(root, dirname(path))).catch(() => "");
  if (folder !== root && !folder.startsWith(root + sep))
    throw new Error(`${path}: there is no such folder below FEEDS_FOLDER`);
  const pattern = new RegExp(
    `^${basename(path)
      .replace(/[\\^$.+?()[\]{}|]/g, "\\$&")
      .replaceAll("*", ".*")}$`,
  );
  const found = await Promise.all(
    (await readdir(folder, { withFileTypes: true }))
      .filter((entry) => entry.isFile() && pattern.test(entry.name))
      .map(async ({ name }) => ({ name, ...(await stat(join(folder, name))) })),
  );
  const [newest] = found.toSorted((a, b) => b.mtimeMs - a.mtimeMs);
  if (newest === undefined) throw new Error(`${path}: no file of this name below FEEDS_FOLDER`);
  const etag = `${newest.name} ${newest.size} ${newest.mtimeMs}`;
  if (before?.etag === etag) return null;
  const from = createReadStream(join(folder, newest.name));
  return { etag, modified: null, hash: await store([from], to, feedBytes, { signal, onBytes }) };
}
