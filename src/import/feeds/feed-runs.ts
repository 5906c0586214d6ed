import type { Sentence } from "#src/contract/sentences.ts";
import { raiseAlarms } from "#src/alarms/raise.ts";
import { startOfDay } from "#src/domain/time.ts";
import { hourS } from "#src/domain/units.ts";
import type { Source } from "#src/import/source.ts";
import { isSilent, withoutQuery } from "#src/import/feeds/feeds.ts";
import { finishRun, isDead, startRun } from "#src/import/runs.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import type { Producer } from "#src/infrastructure/queues.ts";
import { msOf } from "#src/marks/marks.ts";
import { logImport } from "#src/operators/operator-log.ts";

/** What a feed remembers of what it imported last. */
export interface Seen {
  /** Hash of the source's description: another one reads the same files in another way. */
  description: string;
  files: SeenFile[];
  /** True if fetching them took longer than FEED_SILENCE_MS. */
  slow?: boolean;
}

export interface SeenFile {
  /** What the server named it by, or name, size and time of a file of a folder; null without. */
  etag: string | null;
  modified: string | null;
  /** SHA-256 of its bytes. */
  hash: string;
}

/** A run of a feed that has begun. */
export interface FeedRun {
  feedId: number;
  /** Its row of `imports`, which also fences the writes about the feed. */
  runId: number;
  source: string;
  /** The operator's own description; null for a source that comes with Fuelmark. */
  own: Source | null;
  files: string[];
  replaceSource: boolean;
  force: string[];
  seen: Seen | null;
  /** Before it, in a row; a slow fetch is one. */
  failures: number;
}

/** How a run has ended. `isStop`: its process stops, so that the feed is due at once and nothing has failed. */
export type End =
  | { state: "done"; summary: { source: string }; seen: Seen; refusedRows: Buffer | null }
  | { state: "unchanged"; seen: Seen | null }
  | { state: "refused" | "failed"; fault: string; refusedRows?: Buffer | null; isStop?: boolean };

/** SQL: what was imported; where an operator has asked for a run meanwhile, nothing, so that it imports. */
const remembers = "seen = case when seen = 'null' then seen else coalesce(?::jsonb, seen) end";

/** The names of its files in a list. */
const namesOf = ({ files }: Pick<FeedRun, "files">): string =>
  files.map((file) => withoutQuery(file).replace(/.*\/(?=.)/, "")).join(", ");

/** Runs without success in a row that an operator is told of. */
const failuresTold = 3;
/** Runs of each feed that are kept. */
const runsKept = 200;

/** Runs whose process died, in a row, after which a feed waits for its time: the file may be what kills them. */
const deathsMost = 3;
/** SQL on a feed and its last run: its time has come, or the run's process died. */
const isDue = `(due_at <= server_now() or (coalesce(${isDead}, false) and ${deathsMost} > (
  select count(*) from (select state from imports i where i.feed_id = f.id order by i.id desc limit ${deathsMost}) last
  where last.state = 'running')))`;
/** SQL: how often a feed has failed or been slow. An operator's word lets it run as any other. */
const failures = `failures * (seen is distinct from 'null')::int + (seen->>'slow' is not null)::int`;
/** SQL: the guards that a run ignores. A run in its time is of another file than the one that died. */
const forceNow = `case when coalesce(${isDead}, false) and due_at <= server_now() and seen is distinct from 'null'
  then '{}' else force end`;

const named = (id: number, source: string): Sentence => ({
  code: "feed",
  feed: `${id} (${source})`,
});

/**
 * Begins a run of a feed that is due, and sets when it is due next; null when it is not due, is paused, or runs
 * elsewhere, or its last run failed or was slow and none that `mayFail` is wanted. A run whose process has died counts as a failure, and the next one ignores the guards that it ignored.
 */
export const beginRun = (db: Db, feedId: number, mayFail = true): Promise<FeedRun | null> =>
  inTransaction(db, async (tx) => {
    const sql = `select f.id as "feedId", f.source, description as own, files, f.replace_source as "replaceSource", ${forceNow} as force, seen, ${failures} as failures,
         coalesce(${isDead}, false) as died
       from feeds f left join imports on imports.id = f.run_id
       where f.id = ? and paused_at is null and ${isDue} and (${failures} = 0 or ?::bool)
         and (state is null or state <> 'running' or ${isDead})
       for update of f skip locked`;
    const values = [feedId, mayFail];
    const [due] = await rows<Omit<FeedRun, "runId"> & { died: boolean }>(tx, sql, values);
    if (due === undefined) return null;
    const { died, ...begun } = due;
    const runId = await startRun(tx, {
      ...{ kind: "feed", file: namesOf(begun), source: begun.source, feed_id: feedId },
      ...{ replace_source: begun.replaceSource, dry_run: false, actor: `feed ${feedId}` },
    });
    const updateSql = `update feeds set run_id = ?, force = ?::text[], seen = nullif(seen, 'null'), due_at = server_now() + every_s * interval '1 s' where id = ?`;
    await rows(tx, updateSql, [runId, begun.force, feedId]);
    if (died) await countFailure(tx, { ...begun, runId }, "its process has ended in the middle");
    return { ...begun, runId };
  });

/** Writes the end of a run, and tells an operator of a refused file and of repeated failures. */
export const endRun = (db: Db, feedRun: FeedRun, end: End): Promise<void> =>
  inTransaction(db, async (tx) => {
    await finishRun(tx, feedRun.runId, end);
    const { feedId, runId } = feedRun;
    const update = (set: string, ...values: unknown[]) =>
      rows(tx, `update feeds set ${set} where id = ? and run_id = ?`, [...values, feedId, runId]);
    const isStop = "fault" in end && end.isStop === true;
    // Guards that an operator has named meanwhile are for the next run.
    const forgets = "force = case when seen = 'null' then force else '{}' end";
    await update(isStop ? "due_at = server_now()" : forgets);
    if ("fault" in end) {
      if (!isStop) await countFailure(tx, feedRun, end.fault, end.state === "refused");
    } else {
      const seen = end.seen === null ? null : JSON.stringify(end.seen);
      await update(`failures = 0, ${remembers}`, seen);
    }
    if (end.state === "done") {
      await update("news_at = server_now()");
      await logImport(tx, `feed ${feedId}`, "feed", namesOf(feedRun), end.summary);
    }
    const sql = `delete from imports where feed_id = ? and id <= (select id from imports where feed_id = ?
         order by id desc offset ${runsKept} limit 1)`;
    await rows(tx, sql, [feedId, feedId]);
  });

/** Alarms come once a day: a feed may run each minute. */
async function countFailure(
  tx: Tx,
  { feedId, runId, source }: FeedRun,
  fault: string,
  isRefused = false,
): Promise<void> {
  const sql = `update feeds set failures = failures + 1 where id = ? and run_id = ?
     returning failures, ${msOf("server_now()")} as now`;
  const [feed] = await rows<{ failures: number; now: number }>(tx, sql, [feedId, runId]);
  if (feed === undefined) return;
  const alarm = { subject: named(feedId, source), at: startOfDay(feed.now) };
  const details = { fault: fault.slice(0, 300) };
  const kinds = [
    ...(isRefused ? (["feed-refused"] as const) : []),
    ...(feed.failures >= failuresTold ? (["feed-failing"] as const) : []),
  ];
  await raiseAlarms(
    tx,
    kinds.map((kind) => ({ kind, ...alarm, details })),
  );
}

/**
 * Wakes feeds that are due, healthy ones first, and raises the alarm for those that have brought nothing new for too long, once a day each.
 * Gives the number of due ones.
 */
export async function wakeDueFeeds(db: Db, producer: Pick<Producer, "wakeFeeds">): Promise<number> {
  const sql = `select f.id from feeds f left join imports on imports.id = f.run_id
     where paused_at is null and ${isDue} order by ${failures} > 0, due_at limit 1000`;
  const due = await rows<{ id: number }>(db, sql);
  await producer.wakeFeeds(due.map(({ id }) => id));
  await inTransaction(db, async (tx) => {
    const silent = await rows<{ id: number; source: string; now: number; hours: number }>(
      tx,
      `update feeds f set told_at = server_now()
       where paused_at is null and ${isSilent} and coalesce(told_at, '-infinity') < server_now() - interval '1 day'
       returning id, source, ${msOf("server_now()")} as now,
         floor(extract(epoch from server_now() - news_at) / ${hourS})::int as hours`,
    );
    await raiseAlarms(
      tx,
      silent.map(({ id, source, now: at, hours }) => ({
        ...{ kind: "feed-silent" as const, subject: named(id, source), at, details: { hours } },
      })),
    );
  });
  return due.length;
}
