import { createDb, isUnavailable, rows } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { directUrl } from "#src/infrastructure/postgres-hosts.ts";
import type { ServerTime } from "#src/infrastructure/server-time.ts";
import { type DayTable, dayOfTable, dayTablesBefore } from "#src/marks/days.ts";
import type { RoleDeps } from "#workers/role.ts";
import { pruneReporters } from "#workers/upkeep/people.ts";

type Deps = Pick<RoleDeps, "db" | "config" | "clock" | "log">;

/**
 * Limits of a detach's wait for each older transaction, and of its whole time. Nobody waits for it meanwhile; if a
 * transaction (a backup) takes longer, the next run tries again.
 */
export const usualPatience = { lockTimeoutMs: 10_000, queryTimeoutMs: 120_000 };

/**
 * Makes the partitions of the coming days. Returns the number of missing ones. Not while the clocks are not trusted:
 * those of a week exist, and intake makes one that a mark needs.
 */
export async function makePartitions({
  db,
  config,
  time,
}: Pick<RoleDeps, "db" | "config"> & { time: Pick<ServerTime, "isTrusted"> }): Promise<number> {
  if (!time.isTrusted()) return 0;
  const sql =
    "select ensure_mark_partitions((server_now() at time zone 'UTC')::date, ?::int) as made";
  const [made] = await rows<{ made: number }>(db, sql, [config.partitionsAhead + 1]);
  return made!.made;
}

/**
 * Drops the tables of marks of the days before that of `ms`: detaches them concurrently, so that no reader waits, and
 * drops them (decisions 16.24). Continues an interrupted run. A table that a long transaction reads stays for the next
 * run. Rejects when another table could not be dropped, after it has tried them all.
 */
export async function dropPartitions(
  { db, config, clock, log }: Deps,
  ms: number,
  patience = usualPatience,
): Promise<void> {
  if ((await dayTablesBefore(db, ms)).length === 0) return;
  // A separate connection, because its time-outs are longer, and it holds the advisory lock of this run.
  const own = createDb({ ...config, ...patience, databaseUrl: directUrl(config) }, "retention", 1);
  try {
    const sql = `select pg_try_advisory_lock(${lockIds.dropPartitions}) as ours`;
    const [lock] = await rows<{ ours: boolean }>(own, sql);
    if (!lock!.ours) return;
    await dropEach({ db: own, config, clock, log }, await dayTablesBefore(own, ms));
  } finally {
    await own.destroy();
  }
}

async function dropEach(deps: Deps, tables: readonly DayTable[]): Promise<void> {
  const { db, log } = deps;
  let detaching = true;
  const faults: unknown[] = [];
  for (const { name, state } of tables) {
    if (state !== "detached" && !detaching) continue;
    try {
      if (state !== "detached") {
        // An error leaves the table pending, and Postgres then detaches no other.
        detaching = false;
        const how = state === "pending" ? "finalize" : "concurrently";
        await db.raw(`alter table marks detach partition ?? ${how}`, [name]);
        detaching = true;
      }
      await pruneReporters(deps, name, dayOfTable(name));
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
  if (faults.length > 0) throw faults[0];
}

const isLockTimeout = (error: unknown): boolean => (error as { code?: unknown }).code === "55P03";
