import { createHash } from "node:crypto";
import { join, basename, dirname, sep } from "node:path";
import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import type { End, SeenFile, FeedRun } from "#src/import/feeds/feed-runs.ts";
import { withoutQuery } from "#src/import/feeds/feeds.ts";
import { importSource } from "#src/import/import-source.ts";
import { packRefused } from "#src/import/refusals.ts";
import { isFault } from "#src/import/read-text.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { type createReceivers, faultOf } from "#src/pushes/receivers.ts";
import { fetchFile, type Fetched, store, type Target } from "#workers/imports/fetch.ts";
import { withTemporaryFolder } from "#workers/imports/temporary.ts";

interface RunDeps {
  db: Db;
  config: Config;
  receivers: ReturnType<typeof createReceivers>;
  /** Aborted when the process stops. */
  stop: AbortSignal;
  progress: (step: string, done: number, total: number | null) => void;
  touched: (stationIds: string[]) => void;
  /** Runs one import at a time in this process: a country in memory is enough. */
  alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Fetches the files of a feed and imports them, unless they are those of its last import. Never rejects. */
export async function fetchAndImport(deps: RunDeps, feedRun: FeedRun): Promise<End> {
  try {
    return await withTemporaryFolder((folder) => run(deps, feedRun, folder));
  } catch (error) {
    const isStop = deps.stop.aborted;
    const fault = isStop ? "The process was stopped; the feed is due at once" : faultOf(error);
    return { state: "failed", fault, isStop };
  }
}

async function run(deps: RunDeps, feedRun: FeedRun, folder: string): Promise<End> {
  const { db, config, progress, touched, alone } = deps;
  const { files, replaceSource, force } = feedRun;
  const source = feedRun.own ?? sourceNamed(feedRun.source);
  if (source === undefined)
    return { state: "failed", fault: `There is no source ${feedRun.source} here` };
  const description = createHash("sha256").update(JSON.stringify(source)).digest("hex");
  const known = feedRun.seen?.description === description ? feedRun.seen.files : [];
  const paths = files.map((file, n) => join(folder, `${n}${endingOf(file)}`));
  const fetchOne = (n: number, before: SeenFile | null): Promise<Fetched> => {
    const [file, to] = [files[n]!, paths[n]!];
    const onBytes = (bytes: number): void => progress("fetching", bytes, null);
    const target = { to, before, stop: deps.stop, onBytes };
    return URL.canParse(file)
      ? fetchFile(deps.receivers, config, file, target)
      : copyNewest(config, file, target);
  };
  const begunAt = performance.now();
  const found: Fetched[] = [];
  for (const n of files.keys()) found.push(await fetchOne(n, known[n] ?? null));
  if (found.every((one) => one === null)) return { state: "unchanged", seen: null };
  // An import needs all files: those that have not changed have to be fetched too.
  for (const [n, one] of found.entries()) if (one === null) found[n] = await fetchOne(n, null);
  const isSlow = performance.now() - begunAt > config.feedSilenceMs;
  const seen = { description, files: found as SeenFile[], ...(isSlow && { slow: true }) };
  if (seen.files.every(({ hash }, n) => hash === known[n]?.hash))
    return { state: "unchanged", seen };
  const refusals = join(folder, "refused.csv");
  const summary = await alone(() =>
    importSource(db, config, {
      ...{ source, paths, dryRun: false, replaceSource, force, progress, touched },
      refusals,
      waiting: () => progress("waiting", 0, null),
    }),
  );
  const refusedRows = await packRefused(refusals);
  if (!isFault(summary)) return { state: "done", summary, seen, refusedRows };
  const fault = paths.reduce(
    (text, path, n) => text.replaceAll(path, withoutQuery(files[n]!)),
    summary.fault,
  );
  return { state: summary.brokeOff === true ? "failed" : "refused", fault, refusedRows };
}

/** The ending of a file's name, by which a reader may know it: `.csv`, `.osm.pbf`. */
const endingOf = (file: string): string =>
  /(\.\w{1,10}){1,2}$/.exec(URL.canParse(file) ? new URL(file).pathname : file)?.[0] ?? "";

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
