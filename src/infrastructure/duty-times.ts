import type { Resources } from "#src/infrastructure/resources.ts";
import type { Condition } from "#src/infrastructure/parts.ts";
import { english, type Sentence } from "#src/contract/sentences.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { type DutyName, schedulesOf } from "#src/infrastructure/schedule.ts";

export type DutyWatch = ReturnType<typeof createDutyWatch>;

/** `clock` is the duty to enqueue the others. */
export type WatchedDuty = DutyName | "clock";

/** Time of each duty's last success, noted by its process: ms as text. Rejects while Redis is away. */
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

/** A duty without success in this number of slots is late. */
const lateSlots = 3;
/** A busy machine may delay anything for seconds, and clocks may differ by as much. */
const lateAtLeastMs = 5000;
const lookAtMostMs = 5000;

/**
 * Watches whether each duty succeeds, over all processes, and logs when one is late. The monotonic clock measures a
 * duty's silence, from the last change of its note: no step of any clock makes a duty late, or hides a late one
 * (decisions 21.12). A note of the future is a separate fault. The watch is a timer, not a duty: a job in a queue
 * cannot report that no jobs come. `onStopped` is called once for a duty that was done before and is late now; if it
 * rejects, it is called again.
 */
export function createDutyWatch(
  deps: Omit<Resources, "db">,
  onStopped: (duty: WatchedDuty) => Promise<void>,
) {
  const { config, log, clock, redis } = deps;
  const slots = new Map<WatchedDuty, number>(
    schedulesOf(config).map(({ duty, slotMs }) => [duty, slotMs]),
  );
  slots.set("clock", Math.min(...slots.values()));
  let times: ReadonlyMap<string, number> | null = null;
  /** Time of each note's last change, by the monotonic clock. */
  const changedAt = new Map<string, number>();
  /** Since when Redis has been reachable, by the monotonic clock: since then a duty could run and note it. */
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
    // Without a clock process all duties are late, for this one reason.
    const clockMs = found.get("clock") ?? 0;
    const reasons = clockMs <= 0 ? found : new Map([["clock" as const, clockMs]]);
    for (const [duty, ms] of reasons)
      if (!late.has(duty))
        log.error(
          { duty, ms, reason: english(sentenceOf([duty, ms])) },
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
    // A duty that was never done has no process yet: it is new here, or Redis has lost everything.
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
      // The connection has logged that Redis is away. No duty can run, or note it, until Redis is back.
      times = null;
      knownFrom = null;
      log.debug({ err }, "no look at the duties");
    },
  });

  return {
    ...{ start, stop },
    /** Time of each duty's last success, ms; null when it never had one; NaN while Redis is away. */
    lastSuccess: (): Map<WatchedDuty, number | null> =>
      new Map(
        [...slots.keys()].map((duty) => [duty, times === null ? NaN : (times.get(duty) ?? null)]),
      ),
    /** The length of each duty's slot, ms: the period in which it should succeed once. */
    periods: (): ReadonlyMap<WatchedDuty, number> => slots,
    /** For `/readyz`: `ok` if no duty is late. */
    condition(): Condition {
      if (late.size > 0) return { ok: false, says: [...late].map(sentenceOf) };
      return { ok: true, says: [{ code: times === null ? "unknown-without-redis" : "on-time" }] };
    },
  };
}

/** A negative `lateMs` means a note that far in the future. */
function sentenceOf([duty, lateMs]: [WatchedDuty, number]): Sentence {
  const s = Math.round(Math.abs(lateMs) / 1000);
  if (lateMs < 0) return { code: "duty-in-future", duty, s };
  return duty === "clock" ? { code: "clock-silent", s } : { code: "duty-late", duty, s };
}
