import { Type } from "typebox";
import { raiseAlarms } from "#src/alarms/raise.ts";
import { startOfDay } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { type Db, inTransaction, rows, type Statements } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";
import { already, noId, operatorAct, unknown } from "#src/operators/act.ts";
import { line } from "#src/operators/inputs.ts";

/** The data that a step of the retention would delete. */
export interface Due {
  /** Rows up to `countedMost` + 1, or days whose marks are to be cleared. */
  count: number;
  /** Time of the oldest, ms; null when nothing is due. */
  oldest: number | null;
}

/** Rows are counted so far: to count hundreds of millions takes longer than a statement may. */
export const countedMost = 1_000_000;
const counted = (count: number): Record<string, number> =>
  count > countedMost ? { more_than: countedMost } : { count };

/** One run of a step. Times in ms of the database's clock. */
export interface StepRun {
  step: string;
  now: number;
  /** Older data is due. */
  keptFrom: number;
  /** A delay of this or more needs an operator's consent. */
  lateMs: number;
}

/** An operator's consent holds for this time, and for data up to this much newer than shown. */
const allowedMs = dayMs;

/**
 * True if a step may delete its due data (decisions 21.10). It asks an operator when the step was last done `lateMs`
 * ago or more, or when data has been due for that long: then the clock has jumped, a setting has changed, or nobody has
 * deleted anything for days. A step that was never done is measured from the newest change of a station.
 */
export async function mayDelete(
  db: Db,
  log: Log,
  { step, now, keptFrom, lateMs }: StepRun,
  { count, oldest }: Due,
): Promise<boolean> {
  if (oldest === null) return true;
  const [known] = await rows<{ doneAt: number; asked: boolean; allowed: boolean }>(
    db,
    `select ${msOf("coalesce(s.done_at, (select at from changes order by seq desc limit 1), server_now())")} as "doneAt",
       s.asked_at is not null as asked,
       coalesce(s.allowed_at between ${fromMs} and ${fromMs} and s.kept_from >= ${fromMs}, false) as allowed
     from (select ?::text as step) q left join retention_steps s using (step)`,
    [now - allowedMs, now + allowedMs, keptFrom - allowedMs, step],
  );
  const days = Math.max(now - known!.doneAt, keptFrom - oldest) / dayMs;
  if (days * dayMs < lateMs) return true;
  if (known!.allowed) {
    log.info({ step, ...counted(count) }, "deletes what an operator has allowed");
    return true;
  }
  await inTransaction(db, async (tx) => {
    const sql = `insert into retention_steps (step, asked_at, count, oldest, kept_from) values (?, server_now(), ?, ${fromMs}, ${fromMs})
       on conflict (step) do update set asked_at = coalesce(retention_steps.asked_at, excluded.asked_at),
         count = excluded.count, oldest = excluded.oldest, kept_from = excluded.kept_from, allowed_at = null`;
    await rows(tx, sql, [step, count, oldest, keptFrom]);
    const details = { ...counted(count), days: Math.floor(days) };
    // The alarm is raised once a day.
    const at = startOfDay(now);
    const subject = { code: "retention", retention: step } as const;
    await raiseAlarms(tx, [{ kind: "deletion-waits", subject, at, details }]);
  });
  if (!known!.asked)
    log.warn(
      { step, ...counted(count), days: Math.floor(days) },
      "more is due than usual, waits until an operator allows it",
    );
  return false;
}

/** Notes that a step has deleted the data due at `now`, and ends its question to an operator. */
export async function noteDeleted(
  db: Statements,
  log: Log,
  { step, now }: StepRun,
  { oldest }: Due,
): Promise<void> {
  // A run that found nothing, with a clock that went back, must not cause a question when the clock is right again.
  const later = "greatest(s.done_at, excluded.done_at)";
  const sql = `with before as (select asked_at is not null as asked from retention_steps where step = ?),
     noted as (
       insert into retention_steps as s (step, done_at) values (?, ${fromMs})
       on conflict (step) do update set done_at = ${oldest === null ? later : "excluded.done_at"},
         asked_at = null, count = null, oldest = null, kept_from = null, allowed_at = null)
     select asked from before`;
  const [before] = await rows<{ asked: boolean }>(db, sql, [step, step, now]);
  if (before?.asked) log.info({ step }, "deletion does not wait any more");
}

/** A deletion that waits for an operator; times in ms. */
export interface RetentionAsk {
  step: string;
  asked: number;
  count: number;
  oldest: number;
  keptFrom: number;
  allowed: number | null;
}

/** Deletions that wait for an operator, and allowed ones that are not done yet. */
export const listRetentionAsks = (db: Statements): Promise<RetentionAsk[]> =>
  rows<RetentionAsk>(
    db,
    `select step, ${msOf("asked_at")} as asked, count, ${msOf("oldest")} as oldest,
       ${msOf("kept_from")} as "keptFrom", ${msOf("allowed_at")} as allowed
     from retention_steps where asked_at is not null order by step`,
  );

const allowed = Type.Object({ step: line(1, 80) });

/** Allows a step the deletion that it asks for, once and within a day. `upkeep` does it in its next run. */
export const allowRetention = operatorAct(allowed, noId, async (tx, { step }) => {
  const sql = `update retention_steps set allowed_at = server_now()
       where step = ? and asked_at is not null and allowed_at is null returning count`;
  const [ask] = await rows<{ count: number }>(tx, sql, [step]);
  if (ask !== undefined) {
    const details = counted(ask.count);
    const value = { step, ...details };
    return { value, action: "retention.allow", subject: `retention ${step}`, details };
  }
  const asksSql = "select from retention_steps where step = ? and asked_at is not null";
  const asks = await rows(tx, asksSql, [step]);
  if (asks.length === 0) return unknown("waiting deletion", step);
  return already("deletion", step, "allowed");
});
