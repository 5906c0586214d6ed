import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import type { ConsoleImport } from "#src/contract/console-imports.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { msOf } from "#src/marks/marks.ts";

/** An import without progress for this time counts as interrupted. */
const silentS = 30;

/** Writes the row of an import that begins. Returns its number. */
export async function startRun(
  db: Db | Tx,
  run: Pick<ConsoleImport, "kind" | "file" | "source" | "replace_source" | "dry_run" | "actor"> & {
    feed_id?: number;
  },
): Promise<number> {
  const [started] = await db("imports").insert(run).returning<{ id: number }[]>("id");
  return started!.id;
}

/** Writes its latest progress until `stop`, twice a second, which also shows that its process is alive. */
export function noteRun(db: Db, id: number, log: Log) {
  let latest = { step: "", done: 0, total: null as number | null };
  const beat = setInterval(() => {
    const row = { ...latest, seen_at: db.raw("server_now()") };
    const noting = db("imports").where({ id, state: "running" }).update(row);
    noting.catch((error: Error) => log.debug({ err: error.message }, `import ${id}`));
  }, 500).unref();
  return {
    progress: (step: string, done: number, total: number | null) =>
      void (latest = { step, done, total }),
    stop: () => clearInterval(beat),
  };
}

/** Writes its end. */
export const finishRun = async (
  tx: Db | Tx,
  id: number,
  end: {
    state: "done" | "unchanged" | "refused" | "failed";
    summary?: { source: string };
    fault?: string;
    /** Rows that were left out, as CSV, gzipped. */
    refusedRows?: Buffer | null;
  },
): Promise<void> => {
  // A list of thousands, such as doubtful pairs, is kept as its length.
  const short = (_: string, value: unknown) => (Array.isArray(value) ? value.length : value);
  const summary = end.summary === undefined ? null : JSON.stringify(end.summary, short);
  const row = { state: end.state, summary, fault: end.fault ?? null };
  const refused_rows = end.refusedRows ?? null;
  await tx("imports")
    .where({ id })
    .update({ ...row, refused_rows, finished_at: tx.raw("server_now()") });
  // The list shows the newest runs alone, and nobody asks for the rows of older ones.
  const sql = `update imports set refused_rows = null where refused_rows is not null and id not in (${shownIds})`;
  await rows(tx, sql);
};

/** Number of runs that the list shows: so many by hand, and so many of feeds, of which one may fail each minute. */
const runsShown = 30;
/** SQL: their ids. */
const shownIds = `select id from (
    select id, row_number() over (partition by feed_id is null order by id desc) as n
    from imports where state <> 'unchanged') newest
  where n <= ${runsShown}`;

/** The rows that a run has left out, as CSV, gzipped; null if there are none, or no longer. */
export const refusedRowsOf = async (db: Db, id: number): Promise<Buffer | null> => {
  const [run] = await db("imports")
    .where({ id })
    .select<{ refused_rows: Buffer | null }[]>("refused_rows");
  return run?.refused_rows ?? null;
};

const feedRuns = 20;

/** SQL: an import is not being done any more, though its row says so. */
export const isDead = `(state = 'running' and seen_at < server_now() - interval '${silentS} s')`;
export const runState = `case when ${isDead} then 'interrupted' else state end`;

/** The newest runs of a feed; without one those by hand, and those of feeds that had something new or failed. */
export const listRuns = (db: Db, feedId: number | null = null): Promise<ConsoleImport[]> =>
  rows<ConsoleImport>(
    db,
    `select id, kind, file, source, replace_source, dry_run, actor, step, done, total,
       summary - 'refused_rows' as summary, fault, refused_rows is not null as has_refused_rows,
       ${runState} as state,
       ${msOf("started_at")} as started, ${msOf("finished_at")} as finished
     from imports where ${feedId === null ? `id in (${shownIds})` : "feed_id = ?"} order by id desc limit ${feedId === null ? 2 * runsShown : feedRuns}`,
    feedId === null ? [] : [feedId],
  );
