import cron from "node-cron";
import { noteDuty } from "#src/infrastructure/duty-times.ts";
import { type Schedule, schedulesOf } from "#src/infrastructure/schedule.ts";
import type { Role, RoleDeps } from "#workers/role.ts";

/**
 * The clock role: runs the schedules and only enqueues. The id of a job contains its slot, so two clocks do no harm.
 * At its start, and each time that Redis is back, it enqueues the current slot of every duty: whoever waited for a
 * clock need not wait for the next tick, and a Redis that came back empty has its jobs again.
 */
export function createClockRole({ config, clock, log, producer, redis }: RoleDeps): Role {
  const schedules = schedulesOf(config);
  const { addSlot, onReady } = producer();
  let stopped = false;

  const enqueue = async ({ queue, duty, slotMs }: Schedule): Promise<void> => {
    if (stopped) return;
    const slot = Math.floor(clock() / slotMs);
    if (!(await addSlot(queue, { duty, slot }))) return;
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
