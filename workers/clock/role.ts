import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import cron from "node-cron";
import { minuteMs } from "#src/domain/units.ts";
import { noteDuty, readDuties } from "#src/infrastructure/duty-times.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { type Schedule, schedulesOf } from "#src/infrastructure/schedule.ts";
import type { Role, RoleDeps } from "#workers/role.ts";

/** Pause between two tries to enqueue, and between two looks at the schedules, ms. */
const againMs = 1000;
/** After this number of slots without success a duty is enqueued under an id that no job has had. */
const undoneSlots = 2;
/** node-cron is not asked about slots that are longer past, see `leaveOutPast`. */
const pastMs = minuteMs;

/** A schedule and its progress. Times of the monotonic clock, ms. */
interface Course extends Schedule {
  /** The last enqueued slot, and its time. */
  slot: number;
  enqueuedAt: number;
  /** The note of the duty's last success, and the time since when it is known. */
  done: string | undefined;
  doneAt: number;
}

/**
 * The clock role: runs the schedules and only enqueues. The id of a job contains its slot, so two clocks do no harm. At
 * its start, and each time that Redis is back, it enqueues the current slot of every duty: nobody must wait for the
 * next tick, and a Redis that came back empty has its jobs again. When the wall clock steps, the schedules start anew,
 * and missed slots are enqueued by the monotonic clock (decisions 21.11).
 */
export function createClockRole({ config, clock, log, producer, redis }: RoleDeps): Role {
  const begun = performance.now();
  const courses = schedulesOf(config).map((schedule): Course => ({
    ...{ ...schedule, slot: -Infinity, enqueuedAt: begun },
    ...{ done: undefined, doneAt: begun },
  }));
  const { addSlot, onReady } = producer();
  let stopped = false;
  let wallOffsetMs = Date.now() - begun;

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

  /** Enqueues slots that no tick has enqueued, and duties that were enqueued but not done. */
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
  };
  const tasks = courses.map((course) =>
    cron.createTask(course.cron, () => enqueue(course), {
      noOverlap: true,
      timezone: "UTC",
      // A missed tick is repaired here and watched by the other roles.
      suppressMissedWarning: true,
      logger: log,
    }),
  );
  tasks.forEach(leaveOutPast);
  /** Restarts the schedules after a step of the wall clock: after one back node-cron would wait for the old time. */
  const startAnew = (): void => {
    const stepMs = Date.now() - performance.now() - wallOffsetMs;
    wallOffsetMs += stepMs;
    if (Math.abs(stepMs) <= againMs) return;
    log.warn({ ms: Math.round(stepMs) }, "the wall clock stepped, the schedules start anew");
    for (const task of tasks) {
      void task.stop();
      void task.start();
    }
  };
  const looks = createPolled({
    everyMs: againMs,
    look: () => {
      startAnew();
      return lookAfter();
    },
  });
  return {
    start: async () => {
      onReady(() => courses.forEach((course) => void enqueue(course)));
      for (const task of tasks) await task.start();
      void looks.start();
    },
    stop: async () => {
      stopped = true;
      await looks.stop();
      for (const task of tasks) await task.destroy();
    },
  };
}

/**
 * Has the task's matcher go on from a minute ago at the earliest. After a step ahead node-cron would list every slot
 * between, in one turn of the event loop: 93 us each, five minutes for a duty of ten seconds and a year. It has no option
 * for that.
 */
function leaveOutPast(task: unknown): void {
  const { timeMatcher } = task as { timeMatcher: { getNextMatch: (after: Date) => Date } };
  const next = timeMatcher.getNextMatch.bind(timeMatcher);
  timeMatcher.getNextMatch = (after) =>
    next(new Date(Math.max(after.getTime(), Date.now() - pastMs)));
}

/**
 * The slot to enqueue. When the time has gone back, or a tick comes a moment before its slot begins, it is the slot after
 * the last one: a queue remembers ids that it has had, and ignores them.
 */
function slotAt({ slot, slotMs, enqueuedAt }: Course, time: number, now: number): number {
  const isNext = now - enqueuedAt > 0.9 * slotMs;
  return Math.max(Math.floor(time / slotMs), isNext ? slot + 1 : slot);
}
