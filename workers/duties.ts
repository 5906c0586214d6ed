import { setTimeout as sleep } from "node:timers/promises";
import type { WorkerOptions } from "bullmq";
import { dutyAlarm } from "#src/alarms/raise.ts";
import { createDutyWatch, noteDuty } from "#src/infrastructure/duty-times.ts";
import type { QueueName } from "#src/infrastructure/queue-state.ts";
import type { SlotJob } from "#src/infrastructure/queues.ts";
import type { DutyName } from "#src/infrastructure/schedule.ts";
import { createQueueWorker, type Duty, type RoleDeps } from "#workers/role.ts";

/** A duty that makes or deletes by the time: left out, and so late, while the clocks cannot be trusted. */
export const whileTrusted =
  ({ time }: Pick<RoleDeps, "time">, duty: Duty): Duty =>
  () =>
    time.isTrusted() ? duty() : Promise.resolve(leftOut);

/** The result of a duty that was left out. */
const leftOut = Symbol("left out");
/** Pause between two attempts at a duty, ms. It is made here, because the queue's pauses follow the wall clock. */
const pauseMs = 1000;

/**
 * Takes a queue's slot jobs and does their duties. A duty does all work that is due now, for any slot of its job: a
 * late job covers all slots before it, and the queue holds at most one job of a duty (`addSlot`). Notes each success in
 * Redis, and logs when the duties, of any role, are late.
 */
export function createDutyWorker(
  deps: RoleDeps,
  queue: QueueName,
  duties: Readonly<Partial<Record<DutyName, Duty>>>,
  options: Partial<WorkerOptions>,
) {
  const { config, log, clock, redis } = deps;
  const watch = createDutyWatch(deps, dutyAlarm(deps.db, clock));

  const run = async ({ duty }: SlotJob): Promise<void> => {
    const work = duties[duty];
    if (work === undefined) throw new Error(`unknown duty ${duty}`);
    const startedAt = performance.now();
    const result = await work().catch(async (error: unknown) => {
      await sleep(pauseMs);
      throw error;
    });
    if (result === leftOut) return;
    // The work is done; a failure to note it can only cause an alarm.
    await noteDuty(redis, config.redisPrefix, duty, clock()).catch(() => {});
    const ms = Math.round(performance.now() - startedAt);
    log[result ? "info" : "debug"]({ duty, result, ms }, "duty done");
  };

  const worker = createQueueWorker<SlotJob>(
    deps,
    queue,
    run,
    (error, job) => {
      const again = job !== undefined && job.attemptsMade < (job.opts.attempts ?? 1);
      const line = { err: error.message, duty: job?.data.duty };
      if (again) log.warn(line, "duty failed, is tried again");
      else log.error(line, "duty failed");
    },
    options,
  );
  return {
    run(): void {
      void watch.start();
      worker.run();
    },
    async close(): Promise<void> {
      await worker.close();
      await watch.stop();
    },
  };
}
