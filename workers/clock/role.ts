import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import cron from "node-cron";
import { noteDuty, readDuties } from "#src/infrastructure/duty-times.ts";
import { type Schedule, schedulesOf } from "#src/infrastructure/schedule.ts";
import type { Role, RoleDeps } from "#workers/role.ts";

/** Between two tries to enqueue, and between two looks whether a schedule has stopped. */
const againMs = 1000;
/** After so many slots in which a duty was not done it is enqueued under an id that no job has had. */
const undoneSlots = 2;

/** A schedule, and how far it has come. Times of the monotonic clock, ms. */
interface Course extends Schedule {
  /** The last slot that was enqueued, and when. */
  slot: number;
  enqueuedAt: number;
  tickedAt: number;
  /** When somebody last did the duty, as it was noted, and since when that is known. */
  done: string | undefined;
  doneAt: number;
}

/**
 * The clock role: runs the schedules and only enqueues. The id of a job contains its slot, so two clocks do no harm.
 * At its start, and each time that Redis is back, it enqueues the current slot of every duty: whoever waited for a
 * clock need not wait for the next tick, and a Redis that came back empty has its jobs again. What node-cron misses,
 * because the wall clock was set back, goes on by the monotonic clock (docs/decisions.md 21.11).
 */
export function createClockRole({ config, clock, log, producer, redis }: RoleDeps): Role {
  const begun = performance.now();
  const courses = schedulesOf(config).map((schedule): Course => ({
    ...{ ...schedule, slot: -Infinity, enqueuedAt: begun, tickedAt: begun },
    ...{ done: undefined, doneAt: begun },
  }));
  const { addSlot, onReady } = producer();
  let stopped = false;
  let isByMonotonic = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;

  const enqueue = async (course: Course, { tries = 2, again = "" } = {}): Promise<void> => {
    if (stopped) return;
    const { queue, duty } = course;
    const now = performance.now();
    const slot = slotAt(course, clock(), now);
    if (!(await addSlot(queue, { duty, slot }, again))) {
      // A Redis that has just come back may be slow to answer, and the next slot may be far.
      if (tries > 1) await sleep(againMs).then(() => enqueue(course, { tries: tries - 1, again }));
      return;
    }
    if (slot !== course.slot) Object.assign(course, { slot, enqueuedAt: now });
    log.debug({ queue, duty, slot }, "enqueued");
    await noteDuty(redis, config.redisPrefix, "clock", clock()).catch(() => {});
  };
  const tick = (course: Course): Promise<void> => {
    course.tickedAt = performance.now();
    return enqueue(course);
  };

  /** Enqueues what no tick has, and what was enqueued and is not done all the same. */
  const lookAfter = async (): Promise<void> => {
    const dones = await readDuties(redis, config.redisPrefix).catch(() => null);
    const now = performance.now();
    for (const course of courses) {
      const { duty, slotMs } = course;
      if (dones === null || dones[duty] !== course.done)
        Object.assign(course, { done: dones?.[duty] ?? course.done, doneAt: now });
      if (now - course.doneAt > undoneSlots * slotMs + againMs) {
        course.doneAt = now;
        await enqueue(course, { tries: 1, again: `-${randomUUID()}` });
      } else if (now - course.enqueuedAt > slotMs + againMs) await enqueue(course, { tries: 1 });
    }
    const still = courses.some(({ tickedAt, slotMs }) => now - tickedAt > slotMs + 2 * againMs);
    if (still && !isByMonotonic)
      log.warn("the wall clock runs the schedules no more, they go on by the monotonic clock");
    if (!still && isByMonotonic) log.info("the wall clock runs the schedules again");
    isByMonotonic = still;
  };
  const tasks = courses.map((course) =>
    cron.createTask(course.cron, () => tick(course), {
      noOverlap: true,
      timezone: "UTC",
      // Its warning is no JSON line; a missed tick is made up for, and watched by the other roles.
      suppressMissedWarning: true,
    }),
  );
  return {
    start: async () => {
      onReady(() => courses.forEach((course) => void enqueue(course)));
      for (const task of tasks) await task.start();
      timer = setInterval(() => {
        looking ??= lookAfter().finally(() => (looking = null));
      }, againMs);
    },
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await looking;
      for (const task of tasks) await task.destroy();
    },
  };
}

/**
 * The slot to enqueue. When the time has gone back, or a tick comes a moment before its slot begins, it is the slot after
 * the last one: a queue remembers ids that it has had, and ignores them.
 */
function slotAt({ slot, slotMs, enqueuedAt }: Course, time: number, now: number): number {
  const isNext = now - enqueuedAt > 0.9 * slotMs;
  return Math.max(Math.floor(time / slotMs), isNext ? slot + 1 : slot);
}
