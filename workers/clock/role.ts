import cron from "node-cron";
import { hourMs } from "#src/domain/units.ts";
import type { QueueName } from "#src/infrastructure/queue-state.ts";
import type { Role, RoleDeps } from "#workers/role.ts";

interface Schedule {
  queue: QueueName;
  duty: string;
  /** Six fields: seconds first. */
  cron: string;
  /** Length of a slot, ms: two ticks in one slot are one job. */
  slotMs: number;
}

/**
 * The clock role: it only enqueues. The id of a job contains its slot, so two clocks do no harm, and without a clock
 * the duties only run later.
 */
export function createClockRole({ config, clock, log, producer }: RoleDeps): Role {
  const { slotMs, usageFlushMs } = config;
  const schedules: Schedule[] = [
    { queue: "snapshots", duty: "dumps", cron: every(slotMs), slotMs },
    { queue: "upkeep", duty: "instants", cron: "*/5 * * * * *", slotMs: 5000 },
    { queue: "upkeep", duty: "usage", cron: every(usageFlushMs), slotMs: usageFlushMs },
    { queue: "upkeep", duty: "partitions", cron: "0 7 * * * *", slotMs: hourMs },
    { queue: "upkeep", duty: "retention", cron: "0 23 * * * *", slotMs: hourMs },
  ];
  const tasks = schedules.map((schedule) =>
    cron.createTask(
      schedule.cron,
      async () => {
        const slot = Math.floor(clock() / schedule.slotMs);
        await producer.addSlot(schedule.queue, { duty: schedule.duty, slot });
        log.debug({ queue: schedule.queue, duty: schedule.duty, slot }, "enqueued");
      },
      { noOverlap: true, timezone: "UTC" },
    ),
  );
  return {
    start: async () => {
      for (const task of tasks) await task.start();
    },
    stop: async () => {
      for (const task of tasks) await task.destroy();
    },
  };
}

/** A cron pattern for a period: whole seconds below a minute, else whole minutes. */
function every(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  return seconds < 60 ? `*/${seconds} * * * * *` : `0 */${Math.round(seconds / 60)} * * * *`;
}
