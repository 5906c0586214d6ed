import { dayMs } from "#src/domain/units.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { firstIdOfDay, fromMs } from "#src/marks/marks.ts";
import { closeDays } from "#src/marks/open-days.ts";
import { dropRuns } from "#src/marks/stored-runs.ts";
import { retireAlerts } from "#src/pushes/alerts/devices.ts";
import { dropSessions } from "#src/operators/sessions.ts";
import type { RoleDeps } from "#workers/role.ts";
import { dropPartitions, usualPatience } from "#workers/upkeep/partitions.ts";
import { clearOldMarks } from "#workers/upkeep/people.ts";
import { retireUsage } from "#workers/upkeep/usage.ts";

const sessionsKeptDays = 30;
/** Of one webhook, besides those that wait: one that is told of stations gets thousands a day. */
const deliveriesKept = 1000;
/** Rows that one statement deletes: it must stay far below the time-out of statements. */
const deletedAtOnce = 5000;

/**
 * Drops what is past its retention: external ids, imported statuses, opinions that no late mark can meet any more,
 * status runs, what marks were before a decision, alarms, deliveries of webhooks, fuel alerts that are over, ended sessions, usage, days without open marks, positions and comments, mark partitions with the reporters that have no other marks. Each is a step of its own: when one fails, the others are
 * done all the same. Rejects at the end when one has failed.
 */
export async function retire(
  deps: Pick<RoleDeps, "db" | "config" | "clock" | "log" | "redis">,
  patience = usualPatience,
): Promise<void> {
  const { db, config, clock, log } = deps;
  const now = clock();
  const keptFrom = now - config.retentionDays * dayMs;
  const steps: Record<string, () => Promise<void>> = {
    "external ids": () =>
      deleteOld(db, "mark_keys", `at < ${fromMs}`, [now - config.externalIdDays * dayMs]),
    "imported statuses": () => deleteOld(db, "seeds", `imported_at < ${fromMs}`, [keptFrom]),
    opinions: () =>
      deleteOld(db, "opinions", `effective_at < ${fromMs} and mark_id < ?`, [
        now - 3 * config.statusLifetimeMs,
        firstIdOfDay(now - 2 * dayMs),
      ]),
    "status runs": () => dropRuns(db, now - config.runsDays * dayMs),
    "review changes": () => deleteOld(db, "review_changes", `at < ${fromMs}`, [now - 2 * dayMs]),
    "decided marks": () =>
      deleteOld(db, "mark_batch_marks", "mark_id < ?", [firstIdOfDay(keptFrom)]),
    alarms: () => deleteOld(db, "alarms", `raised_at < ${fromMs}`, [keptFrom]),
    webhooks: () => retireDeliveries(db, now - config.webhookDays * dayMs),
    "fuel alerts": async () => void (await retireAlerts(db)),
    sessions: () => dropSessions(db, now - sessionsKeptDays * dayMs),
    usage: () => retireUsage(deps),
    "open days": () => closeDays(db, now),
    "positions and comments": () => clearOldMarks(deps),
    // Last, because it may wait for a long transaction.
    partitions: () => dropPartitions(deps, keptFrom, patience),
  };
  const failed: string[] = [];
  for (const [step, work] of Object.entries(steps)) {
    try {
      await work();
    } catch (error) {
      failed.push(step);
      log.error({ step, err: (error as Error).message }, "not retired, will try again");
    }
  }
  if (failed.length > 0) throw new Error(`not retired: ${failed.join(", ")}`);
}

/** Deliveries, taken or not, and outcomes that wait, from before `keptFrom`; and all but the newest of each webhook. */
async function retireDeliveries(db: Db, keptFrom: number): Promise<void> {
  await deleteOld(db, "webhook_deliveries", `created_at < ${fromMs}`, [keptFrom]);
  await deleteOld(db, "webhook_outcomes", `at < ${fromMs}`, [keptFrom]);
  for (const { id } of await rows<{ id: number }>(db, "select id from webhook_endpoints"))
    await deleteOld(
      db,
      "webhook_deliveries",
      `endpoint_id = ? and delivered_at is not null and id < (
         select min(id) from (select id from webhook_deliveries where endpoint_id = ? order by id desc
           limit ${deliveriesKept}) newest)`,
      [id, id],
    );
}

/** Deletes the rows that `where` names, some at a time. Rows that somebody else holds stay for the next run. */
async function deleteOld(
  db: Db,
  table: string,
  where: string,
  bindings: readonly unknown[],
): Promise<void> {
  for (;;) {
    const [deleted] = await rows<{ count: number }>(
      db,
      `with gone as (
         delete from ${table} where ctid = any(array(
           select ctid from ${table} where ${where} limit ${deletedAtOnce} for update skip locked)) returning 1)
       select count(*) from gone`,
      bindings,
    );
    if (deleted!.count < deletedAtOnce) return;
  }
}
