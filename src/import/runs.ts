import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import type { ConsoleImport } from "#src/contract/console.ts";
import type { StatusSummary } from "#src/import/import-statuses.ts";
import type { ImportSummary } from "#src/import/summary.ts";
import { msOf } from "#src/marks/marks.ts";

const silentS = 30;

/** Writes down that an import begins. Gives its number. */
export async function startRun(
  db: Db,
  {
    kind,
    file,
    source,
    replace_source: replaceSource,
    dry_run: dryRun,
    actor,
  }: Pick<ConsoleImport, "kind" | "file" | "source" | "replace_source" | "dry_run" | "actor">,
): Promise<number> {
  const sql = `insert into imports (kind, file, source, replace_source, dry_run, actor) values (?, ?, ?, ?, ?, ?) returning id`;
  const [started] = await rows<{ id: number }>(db, sql, [
    kind,
    file,
    source,
    replaceSource,
    dryRun,
    actor,
  ]);
  return started!.id;
}

/** How far it is, and that its process lives. */
export const noteRun = async (
  db: Db,
  id: number,
  { step, done, total }: Pick<ConsoleImport, "step" | "done" | "total">,
): Promise<void> => {
  const sql = `update imports set step = ?, done = ?, total = ?, seen_at = server_now() where id = ? and state = 'running'`;
  await rows(db, sql, [step, done, total, id]);
};

/** How it ended. */
export const finishRun = async (
  tx: Db | Tx,
  id: number,
  end: {
    state: "done" | "refused" | "failed";
    summary?: ImportSummary | StatusSummary;
    fault?: string;
  },
): Promise<void> => {
  const sql = `update imports set state = ?, summary = ?::jsonb, fault = ?, finished_at = server_now() where id = ?`;
  const summary = end.summary === undefined ? null : JSON.stringify(end.summary);
  await rows(tx, sql, [end.state, summary, end.fault ?? null, id]);
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
