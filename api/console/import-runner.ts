import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { ImportTask, ImportWord } from "#api/console/import-thread.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { packRefused } from "#src/import/refusals.ts";
import { finishRun, noteRun } from "#src/import/runs.ts";
import { logImport } from "#src/operators/operator-log.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

// As it is bundled, also where the process runs from the sources: a thread translates nothing, so it takes no loader.
const threadFile = join(projectRoot, "dist", "import-thread.js");

/** The error of an import that ended by a fault of the service, not of the file. */
const brokenOff = (cause: string): string =>
  `It broke off${cause}. What was saved until then stays. Import the same file again: it does the rest. If that breaks off as well, import it on the server.`;

/** An import that has begun: its row, who began it, and how its file is called. */
interface Begun {
  id: number;
  actor: string;
  file: string;
  /** The names of its files, in the order of the task's paths. */
  names: readonly string[];
}

/**
 * Runs an import in a thread and keeps its row up to date. When it has ended, well or not, the row gets its end, after
 * `after` has been called. A thread does not hold up a stop of the process: its row is then found interrupted.
 */
export function runImport(
  { db, config, producer, log, invalidation }: ConsoleDeps,
  { id, actor, file, names }: Begun,
  task: Omit<ImportTask, "config">,
  after: () => Promise<void>,
): void {
  const workerData: ImportTask = { ...task, config };
  const thread = new Worker(threadFile, { workerData, execArgv: [] });
  thread.unref();
  let end: Parameters<typeof finishRun>[2] = { state: "failed", fault: brokenOff("") };
  const noted = noteRun(db, id, log);

  const finish = async (): Promise<void> => {
    const refusedRows = await packRefused(task.refusals);
    if (refusedRows !== null) end.refusedRows = refusedRows;
    await after();
    if (task.kind === "stations") invalidation.renewSoon();
    await inTransaction(db, async (tx) => {
      await finishRun(tx, id, end);
      if (end.summary === undefined || task.dryRun) return;
      await logImport(tx, actor, task.kind, file, end.summary as { source: string });
    });
  };
  thread.on("message", (word: ImportWord) => {
    if (word.kind === "progress") noted.progress(word.step, word.done, word.total);
    else if (word.kind === "touched") producer.wakeMarks(word.stationIds);
    else if (word.kind === "done") end = { state: "done", summary: word.summary };
    else {
      const state = word.brokeOff ? "failed" : "refused";
      const fault = task.paths.reduce(
        (text, path, n) => text.replaceAll(path, names[n]!),
        word.fault,
      );
      end = { state, fault };
    }
  });
  thread.on("error", (error) => {
    log.error({ err: error, job: `import ${id}` }, "import failed");
    end = { state: "failed", fault: brokenOff(` (${(error as Error).message.slice(0, 300)})`) };
  });
  thread.on("exit", () => {
    noted.stop();
    finish().catch((error: Error) =>
      log.error({ err: error.message, job: `import ${id}` }, "import's end"),
    );
  });
}
