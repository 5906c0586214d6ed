import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { type DutyName, schedulesOf } from "#src/infrastructure/schedule.ts";

export type DutyWatch = ReturnType<typeof createDutyWatch>;

/** `clock` is the duty to enqueue the others. */
export type WatchedDuty = DutyName | "clock";

/** When each duty last succeeded, as its process has noted it: text of ms. Rejects while Redis is away. */
export const readDuties = (redis: Redis, prefix: string): Promise<Record<string, string>> =>
  redis.hgetall(keyOf(prefix));

const keyOf = (prefix: string): string => `${prefix}:duties`;

/** Remembers in Redis that a duty has succeeded at `now`, ms. Rejects while Redis is away. */
export const noteDuty = async (
  redis: Redis,
  prefix: string,
  duty: WatchedDuty,
  now: number,
): Promise<void> => void (await redis.hset(keyOf(prefix), duty, now));

/** A duty that succeeded in none of so many slots is late. */
const lateSlots = 3;
/** A busy machine may hold anything up for seconds, and so far clocks may differ. */
const lateAtLeastMs = 5000;
const lookAtMostMs = 5000;

/**
 * Watches whether each duty succeeds, over all processes, and logs when one is late. How long a duty is silent is measured
 * by the monotonic clock, from the last time that its note has changed: no step of any clock makes a duty late, or hides
 * one (decisions 21.12). A note of the future is a fault of its own. Its timer is an alarm and no duty: a job in a
 * queue cannot report that no jobs come. `onStopped` is told once of a duty that was done before and is
 * late now; when it rejects, it is told again.
 */
export function createDutyWatch(
  deps: { config: Config; log: Log; clock: Clock; redis: Redis },
  onStopped: (duty: WatchedDuty) => Promise<void>,
) {
  const { config, log, clock, redis } = deps;
  const slots = new Map<WatchedDuty, number>(
    schedulesOf(config).map(({ duty, slotMs }) => [duty, slotMs]),
  );
  slots.set("clock", Math.min(...slots.values()));
  let times: ReadonlyMap<string, number> | null = null;
  /** When a note was last another one than before, by the monotonic clock. */
  const changedAt = new Map<string, number>();
  /** From here on, by the monotonic clock, Redis was reachable: a duty has been able to run, and to tell. */
  let knownFrom: number | null = null;
  let late = new Map<WatchedDuty, number>();
  let told = new Set<WatchedDuty>();

  const judge = (lookedAt: number): void => {
    const found = new Map<WatchedDuty, number>();
    for (const [duty, slotMs] of slots) {
      const silentMs = lookedAt - Math.max(changedAt.get(duty) ?? -Infinity, knownFrom ?? lookedAt);
      const ageMs = clock() - (times?.get(duty) ?? -Infinity);
      if (silentMs > Math.max(lateSlots * slotMs, lateAtLeastMs)) found.set(duty, silentMs);
      else if (ageMs < -lateAtLeastMs) found.set(duty, ageMs);
    }
    // Without a clock all of them are late, for that one reason.
    const clockMs = found.get("clock") ?? 0;
    const reasons = clockMs <= 0 ? found : new Map([["clock" as const, clockMs]]);
    for (const [duty, ms] of reasons)
      if (!late.has(duty))
        log.error(
          { duty, ms, reason: reasonOf(duty, ms) },
          ms < 0
            ? "duty was done in the future, will say when it was not"
            : "duty is late, will say when it is not",
        );
    for (const duty of late.keys())
      if (!reasons.has(duty)) log.info({ duty }, "duty is not late any more");
    late = reasons;
  };
  const tell = async (): Promise<void> => {
    const stopped = [...late].flatMap(([duty, ms]) => (ms > 0 ? [duty] : []));
    told = new Set([...told].filter((duty) => stopped.includes(duty)));
    // One that was never done has no process yet: it is new here, or Redis has lost everything.
    for (const duty of stopped.filter((one) => !told.has(one) && times?.has(one)))
      await onStopped(duty).then(
        () => told.add(duty),
        (error: Error) => log.debug({ duty, err: error.message }, "nobody told of a late duty"),
      );
  };
  const look = async (): Promise<void> => {
    const found = await readDuties(redis, config.redisPrefix);
    const before = times;
    const lookedAt = performance.now();
    times = new Map(Object.entries(found).map(([duty, at]) => [duty, Number(at)]));
    for (const [duty, at] of times) if (before?.get(duty) !== at) changedAt.set(duty, lookedAt);
    knownFrom ??= lookedAt;
    judge(lookedAt);
    await tell();
  };
  const { start, stop } = createPolled({
    ...{ everyMs: Math.min(config.slotMs, lookAtMostMs), look },
    onError: (err) => {
      // The connection has logged that Redis is away. Nothing can be known, or done, until it is back.
      times = null;
      knownFrom = null;
      log.debug({ err }, "no look at the duties");
    },
  });

  return {
    ...{ start, stop },
    /** When each duty last succeeded, ms; null when it never has; NaN while Redis is away. */
    lastSuccess: (): Map<WatchedDuty, number | null> =>
      new Map(
        [...slots.keys()].map((duty) => [duty, times === null ? NaN : (times.get(duty) ?? null)]),
      ),
    /** The length of each duty's slot, ms: so often it should succeed. */
    periods: (): ReadonlyMap<WatchedDuty, number> => slots,
    /** For `/readyz`: whether the duties are done. */
    condition(): { ok: boolean; detail: unknown } {
      const names = [...late].map(([duty, ms]) => `${duty}: ${reasonOf(duty, ms)}`);
      if (names.length > 0) return { ok: false, detail: names.join("; ") };
      return { ok: true, detail: times === null ? "unknown without Redis" : "on time" };
    },
  };
}

/** `lateMs` below zero: so far in the future is its note. */
function reasonOf(duty: WatchedDuty, lateMs: number): string {
  if (lateMs < 0)
    return `was noted ${Math.round(-lateMs / 1000)} s in the future: the time of a process is wrong`;
  const since = `for ${Math.round(lateMs / 1000)} s`;
  return duty === "clock"
    ? `no clock process has enqueued anything ${since}, so no duty runs`
    : `has not succeeded ${since}, though a clock enqueues it`;
}
