import { parentPort, workerData } from "node:worker_threads";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb, type Db, patience } from "#src/infrastructure/db.ts";
import type { importKinds } from "#src/contract/console-imports.ts";
import { dayMs } from "#src/domain/units.ts";
import { importCities } from "#src/import/import-cities.ts";
import { importSource } from "#src/import/import-source.ts";
import { importStatuses } from "#src/import/import-statuses.ts";
import { type FileFault, isFault } from "#src/import/read-text.ts";
import { describedBy } from "#src/import/source-list.ts";

/** The task of one import. */
export interface ImportTask {
  kind: (typeof importKinds)[number];
  /** Stations may have several files. */
  paths: string[];
  /** A file for the rows that are left out, as CSV. */
  refusals: string;
  force: string[];
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
  | { kind: "done"; summary: { source: string; refused?: number } }
  | { kind: "refused"; fault: string; brokeOff: boolean };

// A thread of its own: reading and comparing a country keeps a core busy for seconds, and requests must not wait.
const task = workerData as ImportTask;
const say = (word: ImportWord): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort?.postMessage(word);
};
const db = createDb({ ...task.config, ...patience }, "import", 3);
try {
  const summary = await run(db, task);
  if (isFault(summary)) {
    const { fault, brokeOff = false } = summary;
    say({ kind: "refused", fault, brokeOff });
  } else say({ kind: "done", summary });
} finally {
  await db.destroy();
}

async function run(on: Db, task: ImportTask): Promise<{ source: string } | FileFault> {
  const { kind, paths, source, replaceSource, allowRemovals, refusals, dryRun, config } = task;
  const common = {
    ...{ path: paths[0]!, refusals, dryRun },
    progress: (step: string, done: number, total: number | null) =>
      say({ kind: "progress", step, done, total }),
    waiting: () => say({ kind: "progress", step: "waiting", done: 0, total: null }),
    touched: (stationIds: string[]) => say({ kind: "touched", stationIds }),
  };
  const removals = { replaceSource, allowRemovals };
  if (kind === "stations") {
    const { force } = task;
    const options = { ...common, ...removals, ...describedBy(source), paths, force };
    const done = await importSource(on, config, options);
    if (isFault(done)) return done;
    const { stations, statuses, unknown_fuels, noted, second_file } = done;
    const more = Object.keys(unknown_fuels).length > 0 ? { unknown_fuels } : {};
    const told = { ...(statuses === null ? {} : { statuses }), ...more, noted, second_file };
    return { ...stations!, ...told };
  }
  if (kind === "cities")
    return importCities(on, { ...common, ...removals, format: undefined, source });
  return importStatuses(on, config, {
    ...common,
    format: "csv",
    stationsPath: null,
    source: source ?? "csv",
    maxAgeMs: dayMs,
    notSoldMs: 30 * dayMs,
    asOf: null,
  });
}
