import { rows } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { firstIdOfDay, fromMs } from "#src/marks/marks.ts";
import { dropRuns } from "#src/marks/stored-runs.ts";
import { dropSessions } from "#src/operators/sessions.ts";
import type { RoleDeps } from "#workers/role.ts";
import { clearOldMarks, pruneReporters } from "#workers/upkeep/people.ts";
import { retireUsage } from "#workers/upkeep/usage.ts";

const sessionsKeptDays = 30;

/** Makes the partitions of the days to come. Returns how many were missing. */
export async function makePartitions({ db, config }: RoleDeps): Promise<number> {
  const sql =
    "select ensure_mark_partitions((server_now() at time zone 'UTC')::date, ?::int) as made";
  const [made] = await rows<{ made: number }>(db, sql, [config.partitionsAhead + 1]);
  return made!.made;
}

/**
 * Drops what is past its retention: mark partitions, reporters without marks, positions and comments, external ids, imported statuses, opinions that no late mark can
 * meet any more, status runs, alarms, ended sessions, usage.
 */
export async function retire(deps: RoleDeps): Promise<void> {
  const { db, config, clock, log } = deps;
  const now = clock();
  const keptFrom = now - config.retentionDays * dayMs;
  const day = formatTime(keptFrom).slice(0, 10).replaceAll("-", "");
  const sql =
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'marks'::regclass order by 1";
  const partitions = await rows<{ name: string }>(db, sql);
  for (const { name } of partitions) {
    if (name >= `marks_${day}`) continue;
    await pruneReporters(deps, name, Date.parse(name.replace(/^marks_(....)(..)/, "$1-$2-")));
    // Concurrently, so that no reader waits; it cannot be done inside a transaction.
    await db.raw("alter table marks detach partition ?? concurrently", [name]);
    await db.raw("drop table ??", [name]);
    log.info({ partition: name }, "marks past their retention dropped");
  }
  await db.raw(`delete from mark_keys where at < ${fromMs}`, [now - config.externalIdDays * dayMs]);
  await db.raw(`delete from seeds where imported_at < ${fromMs}`, [keptFrom]);
  await db.raw(`delete from opinions where effective_at < ${fromMs} and mark_id < ?`, [
    now - 3 * config.statusLifetimeMs,
    firstIdOfDay(now - 2 * dayMs),
  ]);
  await dropRuns(db, now - config.runsDays * dayMs);
  await db.raw(`delete from review_changes where at < ${fromMs}`, [now - 2 * dayMs]);
  await db.raw(`delete from alarms where raised_at < ${fromMs}`, [keptFrom]);
  await dropSessions(db, now - sessionsKeptDays * dayMs);
  await retireUsage(deps);
  // Last, because it takes long where it has not run for months.
  await clearOldMarks(deps);
}
