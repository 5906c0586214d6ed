import { setTimeout as sleep } from "node:timers/promises";
import type { Resources } from "#src/infrastructure/resources.ts";
import {
  type Counts,
  createLocalLimiter,
  createUnsentCounts,
  dayOf,
  partnerIdIn,
  quotaDecision,
  type QuotaDecision,
  runMeter,
  type Seen,
  type SpareCounts,
  type Take,
} from "#src/limits/limiter.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { loadUsedToday } from "#src/limits/usage-rows.ts";

/** The budget that a request uses, and the usage that counts it. */
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

/** The decision about a request, and the answer to its question: null without a question, and without Redis. */
export type Taken<Found> = QuotaDecision & { found: Found | null };

interface Deps<Question, Found> extends Omit<Resources, "db"> {
  /** Another question to Redis for the requests of a call, sent together with the call. */
  lookUp?: (questions: readonly Question[]) => Promise<readonly Found[]>;
}

const bucketsMax = 50_000;
const lookMs = 100;
const patienceMs = 1500;
const drainLookMs = 50;
const sendMs = 100;
const retryMs = 1000;
/** While Redis works on one call, this process answers the other. */
const callsAtOnce = 2;

/**
 * The request limits of docs/contract.md 8. All requests of one turn of the event loop, and all that arrive during
 * calls, share one call to Redis, which checks and counts in one script, so that the limits are exact over any number
 * of processes. On a cluster each partner has its own calls, because its counts are on one node (decisions 16.35).
 */
export function createMeter<Question = never, Found = never>(deps: Deps<Question, Found>) {
  const { redis, config, clock, log } = deps;
  const localLimiter = createLocalLimiter(bucketsMax);
  const anonymousLimiter = createLocalLimiter(bucketsMax);
  const spare = { unsent: bucketsMax, notes: bucketsMax };
  const lanes = new Map<string, Lane<Question, Found>>();
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
  const laneOf = (name: string): Lane<Question, Found> => {
    const partnerId = redis.isCluster ? partnerIdIn(name) : "";
    const known = lanes.get(partnerId);
    if (known !== undefined) return known;
    const onSent = (error: Error | null): void => told(partnerId, error);
    const fresh = createLane(deps, localLimiter, spare, partnerId, onSent);
    lanes.set(partnerId, fresh);
    return fresh;
  };
  const unsent = (): number => [...lanes.values()].reduce((sum, lane) => sum + lane.unsent(), 0);

  const timer = setInterval(() => {
    for (const [partnerId, lane] of lanes) {
      lane.look();
      // Drops idle lanes, because a cluster has one for each partner.
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
     * Adds `n` to a field of a day's usage (days since the epoch): results of requests that were counted or refused.
     * `usage`: `p12` or `w12`. The fields are those of src/limits/usage-fields.ts.
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
    /** True while Redis is away, and until it has received this process's grants of that time. */
    get away(): boolean {
      return redis.status !== "ready" || [...lanes.values()].some((lane) => lane.isAway());
    },
    /** Sends the remaining counts. */
    stop: async () => {
      clearInterval(timer);
      // Waits for a Redis that is just coming back, because counts that are not sent now are lost.
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

type Lane<Question, Found> = ReturnType<typeof createLane<Question, Found>>;

interface QueuedRequest<Question, Found> {
  label: string | null;
  question: Question | null;
  resolve: (taken: Taken<Found>) => void;
}

interface Group<Question, Found> {
  who: Metered;
  waiting: QueuedRequest<Question, Found>[];
}

/**
 * The meter's calls to one Redis: the only one, or the node of a cluster with a partner's counts. It notices by itself
 * when this Redis goes away and comes back.
 */
function createLane<Question, Found>(
  { redis, config, clock, lookUp }: Deps<Question, Found>,
  localLimiter: ReturnType<typeof createLocalLimiter>,
  spare: SpareCounts,
  /** The partner of these requests, on a cluster only. */
  partnerId: string,
  /** Called after each call. */
  onSent: (error: Error | null) => void,
) {
  const unsent = createUnsentCounts(spare);
  let groups = new Map<string, Group<Question, Found>>();
  let scheduled = false;
  let inFlight = 0;
  /** Calls in flight that send requests granted without Redis. */
  let sendingUnsent = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  let failedAt: number | null = null;

  type Batch = readonly Group<Question, Found>[];
  type Answers = ReadonlyMap<Question, Found>;
  const nothingFound: Answers = new Map();

  /** The answers to the questions of a call's requests. They are used only if the call succeeds: see `send`. */
  const findAll = async (batch: Batch): Promise<Answers> => {
    if (lookUp === undefined) return nothingFound;
    const all = batch.flatMap(({ waiting }) => waiting.map(({ question }) => question));
    // Many viewers look at the same view, so it is asked for once.
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
      // The use at this request is without those granted after it in this turn.
      const after = Math.max(0, counts.granted - nth);
      const [mn, dn] = [counts.mn - after, counts.dn - after];
      const own = question === null ? null : (found.get(question) ?? null);
      resolve({ ...quotaDecision({ granted, rpm, daily, mn, dn, nowS }), found: own });
    }
  };

  const decideHere = (batch: Batch): void => {
    const atS = clock() / 1000;
    // The next successful call sends these requests to Redis.
    sentAt = Number.NEGATIVE_INFINITY;
    for (const group of batch) {
      const { bucket, usage, rpm, daily, floor } = group.who;
      const labels = group.waiting.map(({ label }) => label).filter((label) => label !== null);
      const counts = localLimiter.take(bucket, labels.length, rpm, daily, atS);
      if (counts.granted > 0)
        unsent.addGranted(bucket, counts.granted, atS, floor, localLimiter.seen(bucket));
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
      const takes = batch.map((group) => takeOf(group, localLimiter.seen(group.who.bucket)));
      const call = { takes, ...waitingCounts };
      // Both leave at once. If the meter's call fails, the other answer may come from an old master and is not used.
      const [result, found] = await Promise.all([
        runMeter(redis, config.redisPrefix, config.clockOffsetS, call, partnerId),
        findAll(batch),
      ]);
      failedAt = null;
      onSent(null);
      for (const [i, group] of batch.entries()) {
        const counts = result.takes[i] as Counts;
        localLimiter.observe(group.who.bucket, counts.mn, counts.dn, result.nowS);
        answer(group, counts, result.nowS, found);
      }
    } catch (error) {
      failedAt = performance.now();
      onSent(error as Error);
      // It is unknown whether the call ran. Counting twice is safer: a limit is never exceeded.
      unsent.restore(waitingCounts);
      decideHere(batch);
    } finally {
      inFlight -= 1;
      if (waitingCounts.unsent.length > 0) sendingUnsent -= 1;
      if (groups.size > 0 && !scheduled) flush();
    }
  };

  /** After a failure one call at a time tries Redis again, so that a frozen Redis delays few requests. */
  const mayCall = (): boolean => {
    if (redis.status !== "ready") return false;
    return failedAt === null || (inFlight === 0 && performance.now() - failedAt >= retryMs);
  };

  const flush = (): void => {
    scheduled = false;
    // Requests during these calls join the next one: under load there are fewer, larger calls.
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

  return {
    join,
    note: unsent.note,
    /** Sends waiting counts, and tries a Redis that was away: readiness must not wait for a request. */
    look(): void {
      if ((unsent.size() > 0 || failedAt !== null) && inFlight === 0 && mayCall()) void send([]);
    },
    /** Sends waiting counts at the end of the process. Resolves true when none are left. */
    async drain(): Promise<boolean> {
      if (unsent.size() > 0 && inFlight === 0 && redis.status === "ready") await send([]);
      return unsent.size() === 0 && inFlight === 0;
    },
    unsent: (): number => unsent.size(),
    /** True while this Redis is away, and until it has received the grants without it. */
    isAway: (): boolean => failedAt !== null || unsent.hasGranted() || sendingUnsent > 0,
    isIdle: (): boolean =>
      failedAt === null && inFlight === 0 && unsent.size() === 0 && groups.size === 0,
  };
}

/** The requests of one bucket, equal neighbours joined. */
function takeOf({ who, waiting }: Group<unknown, never>, seen: Seen): Take {
  const uses: Take["uses"] = [];
  for (const { label } of waiting) {
    if (label === null) continue;
    const last = uses.at(-1);
    if (last?.[0] === label) last[1] += 1;
    else uses.push([label, 1]);
  }
  const { bucket, usage, rpm, daily, floor } = who;
  const ofDay = { floorDay: floor?.day ?? 0, floor: floor?.count ?? 0 };
  return { bucket, usage, rpm, daily, ...ofDay, floorMinute: seen.minute, floorMn: seen.mn, uses };
}

/**
 * Each partner's durable use of today: the meter continues from it when Redis has lost its own counts. Read again every
 * `keysRefreshMs`; while Postgres is away the last answer stays.
 */
export function createUsedToday({ db, config, log }: Pick<Resources, "db" | "config" | "log">) {
  let latest: Awaited<ReturnType<typeof loadUsedToday>> = null;
  const { start, stop } = createPolled({
    everyMs: config.keysRefreshMs,
    look: async () => {
      latest = await loadUsedToday(db);
    },
    onError: (reason) => log.debug({ reason }, "used requests not refreshed"),
  });

  return {
    floorOf(partnerId: number): Metered["floor"] {
      const count = latest?.counts.get(partnerId);
      return latest === null || count === undefined ? null : { day: latest.day, count };
    },
    ...{ start, stop },
  };
}

export type UsedToday = ReturnType<typeof createUsedToday>;
