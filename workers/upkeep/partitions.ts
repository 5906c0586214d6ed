import { createDb, type Db, isUnavailable, rows } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { directUrl } from "#src/infrastructure/postgres-hosts.ts";
import type { ServerTime } from "#src/infrastructure/server-time.ts";
import { type MarkTable, tablesUntil } from "#src/marks/mark-tables.ts";
import { firstIdOfDay } from "#src/marks/marks.ts";
import type { RoleDeps } from "#workers/role.ts";
import { pruneReporters, pruneTable } from "#workers/upkeep/people.ts";

type Deps = Pick<RoleDeps, "db" | "config" | "clock" | "log">;

/**
 * Limits of a detach's wait for each older transaction, and of its whole time. Nobody waits for it meanwhile; if a
 * transaction (a backup) takes longer, the next run tries again.
 */
export const usualPatience = { lockTimeoutMs: 10_000, queryTimeoutMs: 120_000 };

/** Marks that one statement deletes. */
const deletedAtOnce = 2000;

/** Marks of today and of a week ahead have a partition. */
const daysMade = 8;

/**
 * Makes the partitions of the coming days. Returns the number of missing ones. Not while the clocks are not trusted:
 * those of a week exist, and intake makes one that a mark needs.
 */
export async function makePartitions({
  db,
  time,
}: Pick<RoleDeps, "db"> & { time: Pick<ServerTime, "isTrusted"> }): Promise<number> {
  if (!time.isTrusted()) return 0;
  const sql = `select ensure_mark_partitions((server_now() at time zone 'UTC')::date, ${daysMade}) as made`;
  const [made] = await rows<{ made: number }>(db, sql);
  return made!.made;
}

/**
 * Deletes the marks of the days before that of `ms`, and the reporters whose last mark was among them. Tables of which
 * nothing is to be kept are detached concurrently, so that no reader waits, and dropped; of the next one the rows are
 * deleted (decisions 16.24). Continues an interrupted run. A table that a long transaction reads stays for the next run.
 * Rejects when another table could not be dropped, after it has tried them all.
 */
export async function dropMarks(
  { config, clock, log }: Omit<Deps, "db">,
  ms: number,
  patience = usualPatience,
  atOnce = deletedAtOnce,
): Promise<void> {
  // A separate connection, because its time-outs are longer, and it holds the advisory lock of this run.
  const own = createDb({ ...config, ...patience, databaseUrl: directUrl(config) }, "retention", 1);
  try {
    const sql = `select pg_try_advisory_lock(${lockIds.dropPartitions}) as ours`;
    const [lock] = await rows<{ ours: boolean }>(own, sql);
    if (!lock!.ours) return;
    const deps = { db: own, config, clock, log };
    const faults = await dropEach(deps, await tablesUntil(own, ms));
    await deleteMarks(deps, firstIdOfDay(ms), atOnce);
    if (faults.length > 0) throw faults[0];
  } finally {
    await own.destroy();
  }
}

async function dropEach(deps: Deps, tables: readonly MarkTable[]): Promise<unknown[]> {
  const { db, log } = deps;
  let detaching = true;
  const faults: unknown[] = [];
  for (const { name, end, state } of tables) {
    if (state !== "detached" && !detaching) continue;
    try {
      if (state !== "detached") {
        // An error leaves the table pending, and Postgres then detaches no other.
        detaching = false;
        const how = state === "pending" ? "finalize" : "concurrently";
        await db.raw(`alter table marks detach partition ?? ${how}`, [name]);
        detaching = true;
      }
      await pruneTable(deps, name, firstIdOfDay(end));
      await db.raw("drop table ??", [name]);
      log.info({ partition: name }, "marks past their retention dropped");
    } catch (error) {
      const told = { partition: name, err: (error as Error).message };
      if (isLockTimeout(error)) {
        log.warn(told, "a long transaction uses the partition, will try again");
        continue;
      }
      // A lost connection has lost the lock of this run.
      if (isUnavailable(error)) throw error;
      log.error(told, "partition not dropped, will try again");
      faults.push(error);
    }
  }
  return faults;
}

/** Deletes the marks with ids below `below`, the oldest first, some at a time. */
async function deleteMarks(deps: Deps, below: number, atOnce: number): Promise<void> {
  for (let count = 0; ;) {
    const slice = await oldestMarks(deps.db, below, atOnce);
    count += slice.count;
    if (slice.last !== null) {
      await pruneReporters(deps, slice.reporters, slice.last + 1);
      await rows(deps.db, `delete from marks where id between ${slice.first} and ${slice.last}`);
    }
    if (slice.count < atOnce) {
      if (count > 0) deps.log.info({ marks: count }, "marks past their retention deleted");
      return;
    }
  }
}

interface Slice {
  count: number;
  first: number;
  last: number | null;
  reporters: number[];
}

const oldestMarks = async (db: Db, below: number, limit: number): Promise<Slice> =>
  (
    await rows<Slice>(
      db,
      `select count(*), min(id) as first, max(id) as last,
         coalesce(array_agg(distinct reporter_id), '{}') as reporters
       from (select id, reporter_id from marks where id < ${below} order by id limit ?) m`,
      [limit],
    )
  )[0]!;

const isLockTimeout = (error: unknown): boolean => (error as { code?: unknown }).code === "55P03";
