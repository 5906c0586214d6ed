import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { createLocalLimiter } from "#src/limits/local-limiter.ts";
import { createMeterLane, type MeterLane } from "#src/limits/meter-lane.ts";
import { partnerOf } from "#src/limits/meter-script.ts";
import { quotaDecision, type QuotaDecision } from "#src/limits/quota-decision.ts";

/** Whose budget a request uses, and under whose usage it is counted. */
export interface Metered {
  /** Budget: `p<partner>`, or `pk:<partner>:<viewer>` for publishable traffic. */
  bucket: string;
  /** Usage: `p<partner>` or `w<partner>`. */
  usage: string;
  rpm: number;
  daily: number;
  /** The durable count of a UTC day (days since the epoch): restores the quota after a wiped Redis. */
  floor: { day: number; count: number } | null;
}

export type Meter<Question = never, Found = never> = ReturnType<
  typeof createMeter<Question, Found>
>;

/** The decision about a request, and what was found for its question: null without question, and without Redis. */
export type Taken<Found> = QuotaDecision & { found: Found | null };

interface Needs<Question, Found> {
  redis: Redis;
  config: Config;
  clock: Clock;
  log: Log;
  /** Asks Redis something else for the requests of a call; it leaves together with the call. */
  lookUp?: (questions: readonly Question[]) => Promise<readonly Found[]>;
}

const bucketsMax = 50_000;
const lookMs = 100;
const patienceMs = 1500;
const drainLookMs = 50;

/**
 * The request limits of docs/contract.md 8. All requests of one turn of the event loop, and all that come while calls
 * are under way, share one call to Redis, which checks and counts in one script, so that the limits are exact over any
 * number of processes. On a cluster each partner has calls of its own, because its counts lie on a node of their own
 * (decisions 16.35).
 */
export function createMeter<Question = never, Found = never>({
  redis,
  config,
  clock,
  log,
  lookUp,
}: Needs<Question, Found>) {
  const localLimiter = createLocalLimiter(bucketsMax);
  const anonymousLimiter = createLocalLimiter(bucketsMax);
  const room = { unsent: bucketsMax, notes: bucketsMax };
  const lanes = new Map<string, MeterLane<Question, Found>>();
  /** Lanes whose last call failed. */
  const failing = new Set<string>();

  const told = (partnerId: string, error: Error | null): void => {
    const wasAway = failing.size > 0;
    if (error === null) failing.delete(partnerId);
    else failing.add(partnerId);
    if (error !== null && !wasAway)
      log.warn({ reason: error.message }, "redis is away: limits hold for this process alone");
    if (wasAway && failing.size === 0) log.info("redis is back: limits are shared again");
  };
  /** `name`: a bucket or a usage. */
  const laneOf = (name: string): MeterLane<Question, Found> => {
    const partnerId = redis.isCluster ? partnerOf(name) : "";
    const known = lanes.get(partnerId);
    if (known !== undefined) return known;
    const onSent = (error: Error | null): void => told(partnerId, error);
    const fresh = createMeterLane<Question, Found>({
      ...{ redis, config, clock, localLimiter, room, partnerId, onSent, lookUp },
    });
    lanes.set(partnerId, fresh);
    return fresh;
  };
  const unsent = (): number => [...lanes.values()].reduce((sum, lane) => sum + lane.unsent(), 0);

  const timer = setInterval(() => {
    for (const [partnerId, lane] of lanes) {
      lane.look();
      // On a cluster there is one for each partner.
      if (partnerId !== "" && lane.isIdle()) lanes.delete(partnerId);
    }
  }, lookMs).unref();

  return {
    /**
     * Counts one request under `label` (`GET /stations`) unless a limit refuses it, and asks its question. Never
     * rejects.
     */
    take: (who: Metered, label: string, question: Question | null = null) =>
      laneOf(who.usage).join(who, label, question),
    /** The state of the limits; counts nothing. Never rejects. */
    peek: (who: Metered): Promise<QuotaDecision> => laneOf(who.usage).join(who, null, null),
    /**
     * Adds `n` to a field of a day's usage (days since the epoch): what became of requests that were counted or refused.
     * `usage`: `p12` or `w12`. The fields are those of src/limits/pending-usage.ts.
     */
    note: (usage: string, day: number, field: string, n = 1): void =>
      laneOf(usage).note(usage, day, field, n),
    /** A budget of this process alone, for callers without a valid key. Never touches Redis. */
    anonymous(network: string): QuotaDecision {
      const limits = { rpm: config.defaultRpm, daily: config.defaultDaily, nowS: clock() / 1000 };
      const { rpm, daily, nowS } = limits;
      const counts = anonymousLimiter.take(network, 1, rpm, daily, nowS);
      return quotaDecision({ ...counts, ...limits, granted: counts.granted > 0 });
    },
    /** True while Redis is away, and until it has received what this process's own limiter granted meanwhile. */
    get away(): boolean {
      return redis.status !== "ready" || [...lanes.values()].some((lane) => lane.isAway());
    },
    /** Writes what is still to be counted. */
    stop: async () => {
      clearInterval(timer);
      // Waits for a Redis that is just coming back: counts that are not sent now are lost.
      const end = performance.now() + patienceMs;
      for (;;) {
        const drained = await Promise.all([...lanes.values()].map((lane) => lane.drain()));
        if (drained.every(Boolean)) break;
        if (performance.now() > end) {
          log.warn({ counts: unsent() }, "redis is away: some usage was not counted");
          break;
        }
        await sleep(drainLookMs);
      }
    },
  };
}
