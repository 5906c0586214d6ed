import type { Condition } from "#src/infrastructure/parts.ts";
import {
  type ClockName,
  type ClockSample,
  clocksOff,
  distancesOf,
  type FollowedTime,
  followTime,
  isTrusted,
} from "#src/domain/followed-time.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

/** The time of a process (decisions 21.1). */
export interface ServerTime {
  /** The database's time in whole ms, shifted by `clockOffsetS` and continued by the monotonic clock. */
  now: Clock;
  /** False while the clocks differ by more than the bound: then no dump is made, and nothing is deleted. */
  isTrusted(): boolean;
  /** How far the servers' clocks are ahead of this machine's, ms; null if never measured. */
  ahead(): { postgresMs: number | null; redisMs: number | null };
  /** For `/readyz`. */
  condition(): Condition;
  /** Calls `listener` after `now` went back by more than a moment: results of the later time are then wrong. */
  onStepBack(listener: () => void): void;
  /** Measures now, and then by a timer. Waits no longer than the time-outs of Postgres and Redis. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const everyMs = 2000;
/** A step back up to this makes `now` stand still, ms; after a larger one it goes back. */
const momentMs = 1000;
/** Normal corrections of a machine's wall clock between two looks are smaller, ms. */
const stepMs = 1000;
/** Most measurements until one round trip is short. */
const tries = 3;
const shortMs = 10;
/** A longer round trip gives no result, ms. */
const longestMs = 2000;

const monotonic = (): number => performance.now();
const ownOffset = (): number => Date.now() - monotonic();

/**
 * Follows the database's clock (decisions 21.1 to 21.4), and refuses its transactions while that clock is off. `onOff`
 * raises the alarm about such clocks; if it rejects, it is called again.
 */
export function createServerTime(
  deps: Pick<Resources, "config" | "db" | "redis" | "log"> & {
    onOff?: (clocks: readonly ClockName[], at: number) => Promise<void>;
  },
): ServerTime {
  const { config, db, redis, log, onOff } = deps;
  const shiftMs = config.clockOffsetS * 1000;
  let followed: FollowedTime | null = null;
  let offsetMs = ownOffset() + shiftMs;
  let last = -Infinity;
  let own = ownOffset();
  let said = "";
  let told = "";
  const listeners: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let measuring: Promise<void> | null = null;

  const now = (): number => {
    const at = Math.floor(monotonic() + offsetMs);
    if (at > last) last = at;
    return last;
  };

  const apply = (sample: ClockSample): void => {
    const before = followed;
    followed = followTime(before, sample);
    const step = followed.offsetMs + shiftMs - offsetMs;
    offsetMs += step;
    if (step < -momentMs) last = -Infinity;
    if (before !== null && Math.abs(step) > momentMs)
      log.warn({ ms: Math.round(step) }, "the followed time stepped");
    if (step < -momentMs) for (const listener of listeners) listener();
    say(followed);
  };

  const say = (time: FollowedTime): void => {
    const off = clocksOff(time);
    const state = `${off.join(" ")} ${isTrusted(time)}`;
    if (state !== said && off.length > 0)
      log.warn(
        { clocks: distancesOf(time), trusted: isTrusted(time) },
        "clocks differ, will say when they do not",
      );
    if (state !== said && off.length === 0 && said !== "") log.info("clocks agree again");
    said = off.length === 0 ? "" : state;
    if (off.length === 0) told = "";
    if (off.length === 0 || told === state || onOff === undefined) return;
    told = state;
    onOff(off, now()).catch((error: Error) => {
      told = "";
      log.debug({ err: error.message }, "nobody told of a clock that is off");
    });
  };

  const measure = async (): Promise<void> => {
    const nothing = { offset: null, errorMs: 0 };
    const [postgres, redisSeen] = await Promise.all([
      readPostgres(db).catch(() => nothing),
      timed(async () => {
        const [seconds, micros] = await redis.time();
        return Number(seconds) * 1000 + Number(micros) / 1000;
      }).catch(() => nothing),
    ]);
    const { offset, errorMs } = postgres;
    apply({
      ...{ at: monotonic(), postgres: offset, errorMs },
      ...{ redis: redisSeen.offset, own: ownOffset() },
    });
  };

  const look = (): Promise<void> => {
    const fresh = ownOffset();
    const step = fresh - own;
    own = fresh;
    if (Math.abs(step) > stepMs)
      log.warn({ ms: Math.round(step) }, "the clock of this machine stepped");
    // A step of the own clock must be noticed even if a server does not answer.
    if (measuring !== null)
      apply({ at: monotonic(), postgres: null, redis: null, own, errorMs: 0 });
    return (measuring ??= measure().finally(() => (measuring = null)));
  };

  db.pool.fence = {
    expectedMs: () =>
      followed?.of === "postgres" ? Math.round(monotonic() + followed.offsetMs) : null,
    isShut: () => (followed?.held ?? null) !== null,
    onRefused: () => void look(),
  };

  return {
    now,
    isTrusted: () => followed === null || isTrusted(followed),
    ahead: () => {
      const from = (offset: number | null): number | null =>
        offset === null ? null : Math.round(offset - own);
      return {
        postgresMs: from(followed?.postgres ?? null),
        redisMs: from(followed?.redis ?? null),
      };
    },
    condition() {
      if (followed === null) return { ok: true, critical: false, says: [{ code: "not-measured" }] };
      const off = clocksOff(followed);
      const detail = {
        ...{ follows: followed.of, trusted: isTrusted(followed), off },
        ms: distancesOf(followed),
      };
      return { ok: off.length === 0, critical: !isTrusted(followed), detail };
    },
    onStepBack: (listener) => void listeners.push(listener),
    async start() {
      timer ??= setInterval(() => void look(), everyMs).unref();
      await look();
    },
    async stop() {
      clearInterval(timer);
      await measuring;
    },
  };
}

interface Seen {
  /** Difference to the monotonic clock, ms; null when the answer took too long. */
  offset: number | null;
  errorMs: number;
}

/** Asks a clock, in ms. The reading is dated to the middle of the round trip. */
async function timed(read: () => Promise<number>): Promise<Seen> {
  const from = monotonic();
  const ms = await read();
  const to = monotonic();
  const errorMs = (to - from) / 2;
  return { offset: to - from > longestMs ? null : ms - (from + to) / 2, errorMs };
}

/** Measures on one connection, so that waiting for the pool is not part of the round trip. */
async function readPostgres(db: Db): Promise<Seen> {
  const connection = await db.pool.connect();
  try {
    let best: Seen | null = null;
    for (let n = 0; n < tries && (best === null || 2 * best.errorMs > shortMs); n++) {
      const seen = await timed(async () => {
        const { rows } = await connection.query(
          "select extract(epoch from clock_timestamp())::float8 * 1000 as ms",
        );
        return (rows as { ms: number }[])[0]!.ms;
      });
      if (best === null || seen.errorMs < best.errorMs) best = seen;
    }
    connection.release();
    return best!;
  } catch (error) {
    connection.release(error as Error);
    throw error;
  }
}
