import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { quotaDecision, type QuotaDecision } from "#src/limits/quota-decision.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createUnsentCounts } from "#src/limits/unsent-counts.ts";
import { type Counts, runMeter, type Take } from "#src/limits/meter-script.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { createLocalLimiter, dayOf } from "#src/limits/local-limiter.ts";

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

interface Waiting<Question, Found> {
  label: string | null;
  question: Question | null;
  resolve: (taken: Taken<Found>) => void;
}

interface Group<Question, Found> {
  who: Metered;
  waiting: Waiting<Question, Found>[];
}

interface Needs<Question, Found> {
  redis: Redis;
  config: Config;
  clock: Clock;
  log: Log;
  /** Asks Redis something else for the requests of a call; it leaves together with the call. */
  lookUp?: (questions: readonly Question[]) => Promise<readonly Found[]>;
}

const bucketsMax = 50_000;
const sendMs = 100;
const retryMs = 1000;
const patienceMs = 1500;
const lookMs = 50;
/** While Redis works on one call, this process answers the other. */
const callsAtOnce = 2;

/**
 * The request limits of docs/contract.md 8. All requests of one turn of the event loop, and all that come while calls
 * are under way, share one call to Redis, which checks and counts in one script, so that the limits are exact over any
 * number of processes.
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
  const unsent = createUnsentCounts(bucketsMax);
  let groups = new Map<string, Group<Question, Found>>();
  let scheduled = false;
  let inFlight = 0;
  /** Calls in flight that send requests granted without Redis. */
  let sendingUnsent = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  let failedAt: number | null = null;

  const clockS = (): number => clock() / 1000;

  type Batch = readonly Group<Question, Found>[];
  type Answers = ReadonlyMap<Question, Found>;
  const nothingFound: Answers = new Map();

  /** What a call's requests want to know. Without the call's success it is not used: see `send`. */
  const findAll = async (batch: Batch): Promise<Answers> => {
    if (lookUp === undefined) return nothingFound;
    const all = batch.flatMap(({ waiting }) => waiting.map(({ question }) => question));
    // Many viewers look at the same view: it is looked for once.
    const questions = [...new Set(all)].filter((question) => question !== null);
    if (questions.length === 0) return nothingFound;
    const found = await lookUp(questions).catch((): Found[] => []);
    return new Map(found.map((one, i) => [questions[i] as Question, one]));
  };

  const answer = (
    group: Group<Question, Found>,
    counts: Counts,
    nowS: number,
    found: Answers,
  ): void => {
    const { rpm, daily } = group.who;
    let nth = 0;
    for (const { label, question, resolve } of group.waiting) {
      if (label !== null) nth += 1;
      const granted = label === null || nth <= counts.granted;
      // Requests granted later in this turn were not counted yet at this one.
      const after = Math.max(0, counts.granted - nth);
      const [mn, dn] = [counts.mn - after, counts.dn - after];
      const own = question === null ? null : (found.get(question) ?? null);
      resolve({ ...quotaDecision({ granted, rpm, daily, mn, dn, nowS }), found: own });
    }
  };

  const decideHere = (batch: Batch): void => {
    const atS = clockS();
    // The next successful call sends these requests to Redis.
    sentAt = Number.NEGATIVE_INFINITY;
    for (const group of batch) {
      const { bucket, usage, rpm, daily, floor } = group.who;
      const labels = group.waiting.map(({ label }) => label).filter((label) => label !== null);
      const counts = localLimiter.take(bucket, labels.length, rpm, daily, atS);
      if (counts.granted > 0) unsent.addGranted(bucket, counts.granted, atS, floor);
      for (const label of labels.slice(0, counts.granted)) unsent.note(usage, dayOf(atS), label);
      answer(group, counts, atS, nothingFound);
    }
  };

  const send = async (batch: Batch): Promise<void> => {
    // Notes about finished requests are not urgent. Sent with every call they would double the script's work.
    const startedAt = performance.now();
    const due = batch.length === 0 || startedAt - sentAt >= sendMs;
    const waitingCounts = due ? unsent.takeBatch() : { unsent: [], notes: [] };
    if (due) sentAt = startedAt;
    inFlight += 1;
    if (waitingCounts.unsent.length > 0) sendingUnsent += 1;
    try {
      const call = { takes: batch.map(takeOf), ...waitingCounts };
      // Both leave at once. When the meter's call fails, the other's answer may come from an old master: not used.
      const [result, found] = await Promise.all([
        runMeter(redis, config.redisPrefix, config.clockOffsetS, call),
        findAll(batch),
      ]);
      if (failedAt !== null) log.info("redis is back: limits are shared again");
      failedAt = null;
      for (const [i, group] of batch.entries()) {
        const counts = result.takes[i] as Counts;
        localLimiter.observe(group.who.bucket, counts.mn, counts.dn, result.nowS);
        answer(group, counts, result.nowS, found);
      }
    } catch (error) {
      if (failedAt === null) {
        log.warn(
          { reason: (error as Error).message },
          "redis is away: limits hold for this process alone",
        );
      }
      failedAt = performance.now();
      // It is unknown whether the call ran. Counting twice is safer: a limit is never exceeded.
      unsent.restore(waitingCounts);
      decideHere(batch);
    } finally {
      inFlight -= 1;
      if (waitingCounts.unsent.length > 0) sendingUnsent -= 1;
      if (groups.size > 0 && !scheduled) flush();
    }
  };

  /** After a failure one call at a time tries Redis again, so that a frozen one delays few requests. */
  const mayCall = (): boolean => {
    if (redis.status !== "ready") return false;
    return failedAt === null || (inFlight === 0 && performance.now() - failedAt >= retryMs);
  };

  const flush = (): void => {
    scheduled = false;
    // Requests that come during these calls join the next one: under load there are fewer, larger calls.
    if (failedAt === null && inFlight >= callsAtOnce) return;
    const batch = [...groups.values()];
    groups = new Map();
    if (mayCall()) void send(batch);
    else decideHere(batch);
  };

  const join = (
    who: Metered,
    label: string | null,
    question: Question | null,
  ): Promise<Taken<Found>> =>
    new Promise((resolve) => {
      let group = groups.get(who.bucket);
      if (group === undefined) groups.set(who.bucket, (group = { who, waiting: [] }));
      group.waiting.push({ label, question, resolve });
      if (scheduled) return;
      scheduled = true;
      // Runs when the sockets of this turn have been read.
      setImmediate(flush);
    });

  const timer = setInterval(() => {
    // After a failure Redis is tried again without a request, because readiness must not wait for one.
    if ((unsent.size() > 0 || failedAt !== null) && inFlight === 0 && mayCall()) void send([]);
  }, sendMs).unref();

  return {
    /**
     * Counts one request under `label` (`GET /stations`) unless a limit refuses it, and asks its question. Never
     * rejects.
     */
    take: (who: Metered, label: string, question: Question | null = null) =>
      join(who, label, question),
    /** The state of the limits; counts nothing. Never rejects. */
    peek: (who: Metered): Promise<QuotaDecision> => join(who, null, null),
    /**
     * Adds `n` to a field of a day's usage (days since the epoch): what became of requests that were counted or refused.
     * `usage`: `p12` or `w12`. The fields are those of src/limits/pending-usage.ts.
     */
    note: (usage: string, day: number, field: string, n = 1): void =>
      unsent.note(usage, day, field, n),
    /** A budget of this process alone, for callers without a valid key. Never touches Redis. */
    anonymous(network: string): QuotaDecision {
      const limits = { rpm: config.defaultRpm, daily: config.defaultDaily, nowS: clockS() };
      const { rpm, daily, nowS } = limits;
      const counts = anonymousLimiter.take(network, 1, rpm, daily, nowS);
      return quotaDecision({ ...counts, ...limits, granted: counts.granted > 0 });
    },
    /** True while Redis is away, and until it has received what this process's own limiter granted meanwhile. */
    get away(): boolean {
      const isAway = failedAt !== null || redis.status !== "ready";
      return isAway || unsent.hasGranted() || sendingUnsent > 0;
    },
    /** Writes what is still to be counted. */
    stop: async () => {
      clearInterval(timer);
      // Waits for a Redis that is just coming back: counts that are not sent now are lost.
      const end = performance.now() + patienceMs;
      while (unsent.size() > 0 || inFlight > 0) {
        if (unsent.size() > 0 && inFlight === 0 && redis.status === "ready") await send([]);
        if (unsent.size() === 0 && inFlight === 0) break;
        if (performance.now() > end) {
          log.warn({ counts: unsent.size() }, "redis is away: some usage was not counted");
          break;
        }
        await sleep(lookMs);
      }
    },
  };
}

/** The requests of one bucket, equal neighbours joined. */
function takeOf({ who, waiting }: Group<unknown, never>): Take {
  const uses: Take["uses"] = [];
  for (const { label } of waiting) {
    if (label === null) continue;
    const last = uses.at(-1);
    if (last?.[0] === label) last[1] += 1;
    else uses.push([label, 1]);
  }
  const { bucket, usage, rpm, daily, floor } = who;
  return { bucket, usage, rpm, daily, floorDay: floor?.day ?? 0, floor: floor?.count ?? 0, uses };
}
