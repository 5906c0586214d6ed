import { startOfDay } from "#src/domain/time.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import { keptDays as serviceDaysKept } from "#src/alarms/service/days.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import type { ServerTime } from "#src/infrastructure/server-time.ts";
import { hoursKept } from "#src/limits/usage-rows.ts";
import { insightDaysMax } from "#src/marks/insight-days.ts";
import { firstIdOfDay, fromMs, msOf } from "#src/marks/marks.ts";
import { dropRuns } from "#src/marks/stored-runs.ts";
import { countedMost, type Due, mayDelete, noteDeleted } from "#src/operators/retention-asks.ts";
import { retireAlerts } from "#src/pushes/alerts/devices.ts";
import { dropSessions } from "#src/operators/sessions.ts";
import type { RoleDeps } from "#workers/role.ts";
import { dropMarks, usualPatience } from "#workers/upkeep/partitions.ts";
import { clearOldMarks, daysToClear } from "#workers/upkeep/people.ts";
import { retireUsage } from "#workers/upkeep/usage.ts";

const sessionsKeptDays = 30;
/** Newest deliveries of one webhook that stay: one with events of stations gets thousands a day. */
const deliveriesKept = 1000;
/** Rows that one statement deletes: it must stay far below the time-out of statements. */
const deletedAtOnce = 5000;
/** Data that has been due for longer than this needs an operator's consent. */
const lateMs = 3 * dayMs;

type Deps = Pick<RoleDeps, "db" | "config" | "log" | "redis"> & {
  time: Pick<ServerTime, "isTrusted">;
};

/** One kind of data that is deleted by age. */
interface Step {
  /** Older data is due, ms. */
  keptFrom: number;
  lateMs?: number;
  /** The data that `work` would delete. Absent if that data is made again when needed. */
  due?: () => Promise<Due>;
  work: () => Promise<void>;
}

/**
 * Deletes data past its retention. Each kind is a step of its own: when one fails, or waits for an operator, the others
 * still run. Ages follow the database's clock, and nothing is deleted while the clocks are not trusted
 * (decisions 21.9). Rejects at the end when a step has failed.
 */
export async function retire(deps: Deps, patience = usualPatience): Promise<void> {
  const { db, log, time } = deps;
  const [sql] = await rows<{ now: number }>(db, `select ${msOf("server_now()")} as now`);
  const { now } = sql!;
  const failed: string[] = [];
  for (const [step, { keptFrom, due, work, ...limit }] of Object.entries(
    stepsOf(deps, now, patience),
  )) {
    if (!time.isTrusted()) {
      log.warn({ step }, "clocks differ, nothing is deleted");
      break;
    }
    try {
      const run = { step, now, keptFrom, lateMs, ...limit };
      const found = await due?.();
      if (found !== undefined && !(await mayDelete(db, log, run, found))) continue;
      await work();
      if (found !== undefined) await noteDeleted(db, log, run, found);
    } catch (error) {
      failed.push(step);
      log.error({ step, err: (error as Error).message }, "not retired, will try again");
    }
  }
  if (failed.length > 0) throw new Error(`not retired: ${failed.join(", ")}`);
}

function stepsOf(deps: Deps, now: number, patience: typeof usualPatience): Record<string, Step> {
  const { db, config } = deps;
  const keptFrom = now - config.retentionDays * dayMs;
  const clearedFrom = startOfDay(now - config.positionDays * dayMs);
  const opinionsFrom = Math.min(now - 3 * config.statusLifetimeMs, startOfDay(now) - 2 * dayMs);
  /** Deletes the rows of `table` whose time `at` is before `from`, or those that `where` names by the mark `at`. */
  const old = (table: string, at: string, from: number, where?: Where): Step => {
    const { sql, bindings } = where ?? { sql: `${at} <= ${fromMs}`, bindings: [from] };
    const oldest = where === undefined ? `min(${at})` : endOfDayOf(`min(${at})`);
    return {
      keptFrom: from,
      due: () => dueIn(db, table, oldest, sql, bindings),
      work: () => deleteOld(db, table, sql, bindings),
    };
  };
  const clocked = { ...deps, clock: () => now };
  return {
    "external ids": old("mark_keys", "at", now - config.externalIdDays * dayMs),
    "imported statuses": old("seeds", "imported_at", keptFrom),
    // Opinions that no late mark can meet any more. Their time is short, so a wrong clock matters soon.
    opinions: {
      ...old("opinions", "mark_id", opinionsFrom, {
        sql: `effective_at < ${fromMs} and mark_id < ?`,
        bindings: [now - 3 * config.statusLifetimeMs, firstIdOfDay(now - 2 * dayMs)],
      }),
      lateMs: dayMs,
    },
    "status runs": {
      keptFrom: now - config.runsDays * dayMs,
      due: () => dueRuns(db, now - config.runsDays * dayMs),
      work: () => dropRuns(db, now - config.runsDays * dayMs),
    },
    "review changes": old("review_changes", "at", now - 2 * dayMs),
    "decided marks": old("mark_batch_marks", "mark_id", startOfDay(keptFrom), {
      sql: "mark_id < ?",
      bindings: [firstIdOfDay(keptFrom)],
    }),
    alarms: old("alarms", "raised_at", keptFrom),
    "days of grades": old(
      "insight_grades",
      endOfDay,
      startOfDay(now) - (insightDaysMax - 1) * dayMs,
    ),
    "days of the service": old("service_days", endOfDay, startOfDay(now) - serviceDaysKept * dayMs),
    webhooks: {
      ...old(deliveriesAndOutcomes, "at", now - config.webhookDays * dayMs),
      work: () => retireDeliveries(db, now - config.webhookDays * dayMs),
    },
    "fuel alerts": {
      ...old("fuel_alerts", "expires_at", now),
      work: async () => void (await retireAlerts(db)),
    },
    suggestions: old("station_suggestions", "created_at", now - config.positionDays * dayMs),
    sessions: {
      ...old("sessions", "least(expires_at, ended_at)", now - sessionsKeptDays * dayMs),
      work: () => dropSessions(db, now - sessionsKeptDays * dayMs),
    },
    usage: {
      ...old(usageOf(config.retentionDays), "at", startOfDay(now) - config.retentionDays * dayMs),
      work: () => retireUsage(deps),
    },
    "positions and comments": {
      keptFrom: clearedFrom,
      due: async () => {
        const days = await daysToClear(db, clearedFrom);
        return { count: days.length, oldest: days.length > 0 ? (days[0]! + 1) * dayMs : null };
      },
      work: () => clearOldMarks(clocked),
    },
    // This is the last step, because it may wait for a long transaction.
    partitions: {
      keptFrom: startOfDay(keptFrom),
      due: () => dueIn(db, "marks", endOfDayOf("min(id)"), `id < ${firstIdOfDay(keptFrom)}`, []),
      work: () => dropMarks(clocked, keptFrom, patience),
    },
  };
}

interface Where {
  sql: string;
  bindings: readonly unknown[];
}

/** SQL: the end of the UTC day of a date `day`, and of the mark of an id. */
const endOfDay = "((day + 1)::timestamp at time zone 'UTC')";
const endOfDayOf = (id: string): string =>
  `(timestamptz 'epoch' + ((${id} >> 32) + 1) * interval '24 hours')`;

const deliveriesAndOutcomes =
  "(select created_at as at from webhook_deliveries union all select at from webhook_outcomes) w";

/** Hours of usage are kept for a shorter time than days; here their ages are scaled to those of days. */
const usageOf = (keptDays: number): string =>
  `(select ${endOfDay} as at from usage_days union all select ${endOfDay} from usage_errors
    union all select hour - ${keptDays * dayMs - hoursKept * hourMs} * interval '1 ms' from usage_hours) u`;

/** What is due. The count is bounded, and the oldest is asked for by itself, so that an index can find it if there is one. */
const dueIn = async (
  db: Db,
  table: string,
  oldest: string,
  where: string,
  bindings: readonly unknown[],
): Promise<Due> => {
  const due = `from ${table} where ${where}`;
  const sql = `select (select count(*) from (select ${due} limit ${countedMost + 1}) d) as count,
    ${msOf(`(select ${oldest} ${due})`)} as oldest`;
  return (await rows<Due>(db, sql, [...bindings, ...bindings]))[0]!;
};

/** The first run of each station is its oldest, which an index finds. */
const dueRuns = (db: Db, endedBefore: number): Promise<Due> =>
  dueIn(
    db,
    `station_status s cross join lateral (
       select to_at, from_at from status_runs where station_id = s.station_id order by from_at limit 1) r`,
    "min(to_at)",
    `from_at < ${fromMs} and to_at < ${fromMs}`,
    [endedBefore, endedBefore],
  );

/** Deletes deliveries, taken or not, and waiting outcomes from before `keptFrom`, and all but each webhook's newest. */
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

/** Deletes the rows that `where` names, some at a time. Rows that somebody else has locked stay for the next run. */
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
