import { parentPort, workerData } from "node:worker_threads";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb, type Db } from "#src/infrastructure/db.ts";
import type { importKinds } from "#src/contract/console.ts";
import { dayMs } from "#src/domain/units.ts";
import { importCities } from "#src/import/import-cities.ts";
import { importStations } from "#src/import/import-stations.ts";
import { importStatuses, type StatusSummary } from "#src/import/import-statuses.ts";
import type { ImportSummary } from "#src/import/file-import.ts";
import { isFault } from "#src/import/read-text.ts";

/** The task of one import. */
export interface ImportTask {
  kind: (typeof importKinds)[number];
  path: string;
  source: string | undefined;
  replaceSource: boolean;
  allowRemovals: number | undefined;
  dryRun: boolean;
  config: Config;
}

/** Messages of the thread while it runs and at its end. */
export type ImportWord =
  | { kind: "progress"; step: string; done: number; total: number | null }
  | { kind: "touched"; stationIds: string[] }
  | { kind: "done"; summary: ImportSummary | StatusSummary }
  | { kind: "refused"; fault: string; brokeOff: boolean };

// A thread of its own: reading and comparing a country keeps a core busy for seconds, and requests must not wait.
const task = workerData as ImportTask;
const say = (word: ImportWord): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort?.postMessage(word);
};
const db = createDb(
  { ...task.config, lockTimeoutMs: 30_000, queryTimeoutMs: 120_000, acquireTimeoutMs: 5000 },
  "import",
  3,
);
try {
  const summary = await run(db, task);
  if (isFault(summary)) {
    const { fault, brokeOff = false } = summary;
    say({ kind: "refused", fault, brokeOff });
  } else say({ kind: "done", summary });
} finally {
  await db.destroy();
}

function run(
  on: Db,
  { kind, path, source, replaceSource, allowRemovals, dryRun, config }: ImportTask,
) {
  const common = {
    path,
    dryRun,
    progress: (step: string, done: number, total: number | null) =>
      say({ kind: "progress", step, done, total }),
    waiting: () => say({ kind: "progress", step: "waiting", done: 0, total: null }),
  };
  const options = { ...common, format: undefined, source, replaceSource, allowRemovals };
  if (kind === "stations") return importStations(on, options);
  if (kind === "cities") return importCities(on, options);
  return importStatuses(on, config, {
    ...common,
    format: "csv",
    stationsPath: null,
    source: source ?? "csv",
    maxAgeMs: dayMs,
    notSoldMs: 30 * dayMs,
    asOf: null,
    touched: (stationIds) => say({ kind: "touched", stationIds }),
  });
}
