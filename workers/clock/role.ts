import { setTimeout as sleep } from "node:timers/promises";
import cron from "node-cron";
import { noteDuty } from "#src/infrastructure/duty-times.ts";
import { type Schedule, schedulesOf } from "#src/infrastructure/schedule.ts";
import type { Role, RoleDeps } from "#workers/role.ts";

/** Between two tries to enqueue. */
const againMs = 1000;

/**
 * The clock role: runs the schedules and only enqueues. The id of a job contains its slot, so two clocks do no harm.
 * At its start, and each time that Redis is back, it enqueues the current slot of every duty: whoever waited for a
 * clock need not wait for the next tick, and a Redis that came back empty has its jobs again.
 */
export function createClockRole({ config, clock, log, producer, redis }: RoleDeps): Role {
  const schedules = schedulesOf(config);
  const { addSlot, onReady } = producer();
  let stopped = false;

  const enqueue = async (schedule: Schedule, tries = 2): Promise<void> => {
    if (stopped) return;
    const { queue, duty, slotMs } = schedule;
    const slot = Math.floor(clock() / slotMs);
    if (!(await addSlot(queue, { duty, slot }))) {
      // A Redis that has just come back may be slow to answer, and the next slot may be far.
      if (tries > 1) await sleep(againMs).then(() => enqueue(schedule, tries - 1));
      return;
    }
    log.debug({ queue, duty, slot }, "enqueued");
    await noteDuty(redis, config.redisPrefix, "clock", clock()).catch(() => {});
  };
  const tasks = schedules.map((schedule) =>
    cron.createTask(schedule.cron, () => enqueue(schedule), {
      noOverlap: true,
      timezone: "UTC",
      // Its warning is no JSON line; a missed tick is made up for by the next one, and watched by the other roles.
      suppressMissedWarning: true,
    }),
  );
  return {
    start: async () => {
      onReady(() => schedules.forEach((schedule) => void enqueue(schedule)));
      for (const task of tasks) await task.start();
    },
    stop: async () => {
      stopped = true;
      for (const task of tasks) await task.destroy();
    },
  };
}
