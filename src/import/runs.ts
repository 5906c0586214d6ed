import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import type { ConsoleImport } from "#src/contract/console.ts";
import type { StatusSummary } from "#src/import/import-statuses.ts";
import type { ImportSummary } from "#src/import/file-import.ts";
import { msOf } from "#src/marks/marks.ts";

/** An import without progress for this time counts as interrupted. */
const silentS = 30;

/** Writes the row of an import that begins. Returns its number. */
export async function startRun(
  db: Db,
  run: Pick<ConsoleImport, "kind" | "file" | "source" | "replace_source" | "dry_run" | "actor">,
): Promise<number> {
  const [started] = await db("imports").insert(run).returning<{ id: number }[]>("id");
  return started!.id;
}

/** Writes its progress, which also shows that its process is alive. */
export const noteRun = async (
  db: Db,
  id: number,
  { step, done, total }: Pick<ConsoleImport, "step" | "done" | "total">,
): Promise<void> => {
  const row = { step, done, total, seen_at: db.raw("server_now()") };
  await db("imports").where({ id, state: "running" }).update(row);
};

/** Writes its end. */
export const finishRun = async (
  tx: Db | Tx,
  id: number,
  end: {
    state: "done" | "refused" | "failed";
    summary?: ImportSummary | StatusSummary;
    fault?: string;
  },
): Promise<void> => {
  const summary = end.summary === undefined ? null : JSON.stringify(end.summary);
  const row = { state: end.state, summary, fault: end.fault ?? null };
  await tx("imports")
    .where({ id })
    .update({ ...row, finished_at: tx.raw("server_now()") });
};

/** The newest imports of the console, at most `limit`. */
export const listRuns = (db: Db, limit: number): Promise<ConsoleImport[]> =>
  rows<ConsoleImport>(
    db,
    `select id, kind, file, source, replace_source, dry_run, actor, step, done, total, summary, fault,
       case when state = 'running' and seen_at < server_now() - ?::int * interval '1 s' then 'interrupted' else state end as state,
       ${msOf("started_at")} as started, ${msOf("finished_at")} as finished
     from imports order by id desc limit ?`,
    [silentS, limit],
  );
