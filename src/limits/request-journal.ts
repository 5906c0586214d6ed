import type { Config } from "#src/infrastructure/config.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { partnerPrefix, type Redis } from "#src/infrastructure/redis.ts";
import { hourMs } from "#src/domain/units.ts";
import type { Audience } from "#src/domain/usage.ts";
import type { Resources } from "#src/infrastructure/resources.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";
import type { QuotaDecision } from "#src/limits/limiter.ts";
import { usageField } from "#src/limits/usage-fields.ts";

/** A request that is over. Nothing in it comes from its query, its body or its caller's address. */
interface FinishedRequest {
  key: KeyInfo;
  /** `GET /stations` */
  label: string;
  status: number;
  /** The problem code of its answer. */
  code: string | undefined;
  ms: number;
  requestId: string;
  /** The meter's decision; undefined when it was not counted. */
  quota: QuotaDecision | undefined;
}

/** A request in Redis: time in ms, label, status, code or null, key, ms, request id. */
type Entry = [
  at: number,
  label: string,
  status: number,
  code: string | null,
  keyId: number,
  ms: number,
  requestId: string,
];

/** One of a partner's last requests; `at`: its time of arrival, ms. */
interface RecentRequest {
  at: number;
  label: string;
  status: number;
  code: string | null;
  keyId: number;
  ms: number;
  requestId: string;
}

/** Requests and errors that are kept for each partner and kind of key. */
export const recentMax = 50;
/** A list is cut to `recentMax` beyond this: each cut moves the whole list. */
const cutAt = 4 * recentMax;
const recentKeptMs = 48 * hourMs;
const sendMs = 1000;
/** Last requests that wait for Redis, about 300 bytes each, so that an outage cannot fill memory. */
const waitingMax = 20_000;

interface WaitingRequests {
  all: Entry[];
  errors: Entry[];
  /** Requests by hour, bucket and whether they failed: see `countName`. */
  counts: Map<number, number>;
}

interface Deps extends Pick<Resources, "redis" | "clock" | "log"> {
  config: Pick<Config, "redisPrefix">;
  /** Adds to the usage of a day (days since the epoch), as the meter's `note`. */
  note: (usage: string, day: number, field: string, n: number) => void;
}

/**
 * Results of requests for the partner's dashboard (decisions 12.11, 12.12): the last ones one by one, and all by hour
 * and duration. A request only adds to memory; once a second the hours join the meter's notes, and the last requests
 * leave in a pipeline for each partner.
 */
export function createRequestJournal({ redis, config, clock, log, note }: Deps) {
  let waiting: Record<"p" | "w", Map<number, WaitingRequests>> = { p: new Map(), w: new Map() };
  /** Last requests in `waiting`. */
  let kept = 0;

  const noteHours = (letter: "p" | "w", partnerId: number, { counts }: WaitingRequests): void => {
    for (const [name, n] of counts) {
      const { hour, bucket, isError } = readCountName(name);
      const day = Math.floor(hour / 24);
      note(`${letter}${partnerId}`, day, usageField.hour(hour - 24 * day, bucket, isError), n);
    }
    counts.clear();
  };

  const send = async (): Promise<void> => {
    for (const letter of ["p", "w"] as const)
      for (const [partnerId, own] of waiting[letter]) noteHours(letter, partnerId, own);
    if (redis.status !== "ready") return;
    const leaving = waiting;
    waiting = { p: new Map(), w: new Map() };
    kept = 0;
    const oldest = clock() - recentKeptMs;
    const sendOwn = async (
      letter: "p" | "w",
      partnerId: number,
      own: WaitingRequests,
    ): Promise<void> => {
      const pipeline = redis.pipeline();
      for (const what of ["all", "errors"] as const) {
        if (own[what].length === 0) continue;
        const key = recentKey(config.redisPrefix, letter, partnerId, what);
        // Sorted by time, with the text as member: two processes may write at once, and a retry changes nothing.
        pipeline.zadd(key, ...own[what].flatMap((entry) => [entry[0], JSON.stringify(entry)]));
        pipeline.zremrangebyscore(key, "-inf", oldest);
        pipeline.zremrangebyrank(key, 0, -recentMax - 1);
        pipeline.pexpire(key, recentKeptMs);
      }
      if (pipeline.length === 0) return;
      const results = await pipeline.exec().catch((error: Error) => [[error, null] as const]);
      const failed = results?.find(([error]) => error !== null);
      if (failed === undefined) return;
      log.debug({ reason: failed[0]?.message }, "last requests not written, will try again");
      const now = ofPartner(waiting[letter], partnerId);
      for (const what of ["all", "errors"] as const) restore(now, what, own[what]);
    };
    await Promise.all(
      (["p", "w"] as const).flatMap((letter) =>
        [...leaving[letter]].map(([partnerId, own]) => sendOwn(letter, partnerId, own)),
      ),
    );
  };

  const keep = (entries: Entry[], entry: Entry): void => {
    if (kept >= waitingMax) return;
    kept +=
      entries.push(entry) > cutAt ? 1 - entries.splice(0, entries.length - recentMax).length : 1;
  };

  /** Puts unsent requests back before newer ones. */
  const restore = (
    own: WaitingRequests,
    what: "all" | "errors",
    before: readonly Entry[],
  ): void => {
    const now = own[what];
    if (kept >= waitingMax) return;
    own[what] = [...before, ...now].slice(-recentMax);
    kept += own[what].length - now.length;
  };

  const sends = createPolled({ everyMs: sendMs, look: send });
  void sends.start();

  return {
    /** Notes a finished request. */
    finished({ key, label, status, code, ms, requestId, quota }: FinishedRequest): void {
      const own = ofPartner(waiting[key.kind === "secret" ? "p" : "w"], key.partnerId);
      const isError = code !== undefined;
      const at = Math.round(clock() - ms);
      const shownMs = Math.round(ms * 10) / 10;
      const entry: Entry = [at, label, status, code ?? null, key.id, shownMs, requestId];
      keep(own.all, entry);
      if (isError) keep(own.errors, entry);
      if (quota === undefined) return;
      // The minute in which it was counted: hours must add up to the day of its usage.
      const hour = Math.floor(((quota.resetS - 60) * 1000) / hourMs);
      const name = countName(hour, bucketOf(ms), isError);
      own.counts.set(name, (own.counts.get(name) ?? 0) + 1);
    },
    /** Sends the rest. The meter must be stopped after this. */
    stop: async () => {
      await sends.stop();
      await send();
    },
  };
}

/** The last requests of a partner's keys of one kind, the newest first. Rejects while Redis is away. */
export async function recentRequests(
  redis: Redis,
  prefix: string,
  partnerId: number,
  audience: Audience,
  onlyErrors: boolean,
  now: number,
): Promise<RecentRequest[]> {
  const key = recentKey(
    prefix,
    audience === "partner" ? "p" : "w",
    partnerId,
    onlyErrors ? "errors" : "all",
  );
  const texts = await redis.zrevrange(key, 0, recentMax - 1);
  return texts
    .map((text) => {
      const [at, label, status, code, keyId, ms, requestId] = JSON.parse(text) as Entry;
      return { at, label, status, code, keyId, ms, requestId };
    })
    .filter(({ at }) => at > now - recentKeptMs);
}

const recentKey = (
  prefix: string,
  letter: "p" | "w",
  partnerId: number,
  what: "all" | "errors",
): string => `${partnerPrefix(prefix, partnerId)}:recent:${letter}${partnerId}:${what}`;

function ofPartner(all: Map<number, WaitingRequests>, partnerId: number): WaitingRequests {
  const known = all.get(partnerId);
  if (known !== undefined) return known;
  const fresh: WaitingRequests = { all: [], errors: [], counts: new Map() };
  all.set(partnerId, fresh);
  return fresh;
}

// A number, because a text would be a new object for each request.
const countName = (hour: number, bucket: number, isError: boolean): number =>
  (hour * 128 + bucket) * 2 + (isError ? 1 : 0);

const readCountName = (name: number): { hour: number; bucket: number; isError: boolean } => {
  const both = Math.floor(name / 2);
  return { hour: Math.floor(both / 128), bucket: both % 128, isError: name % 2 === 1 };
};

export type RequestJournal = ReturnType<typeof createRequestJournal>;

// Durations are counted by spans of equal ratio: four to each doubling, so that a quantile is right within a tenth.
const perDoubling = 4;
/** Bucket 0 ends at 1/16 ms. */
const offset = 4 * perDoubling;
/** The last bucket takes every duration from two minutes on. */
const last = offset + 17 * perDoubling;

/** The number of the bucket of a duration in ms. */
export const bucketOf = (ms: number): number =>
  Math.min(last, Math.max(0, Math.ceil(Math.log2(ms) * perDoubling) + offset));

/** The middle of a bucket in ms, to three digits. */
const msOf = (bucket: number): number =>
  Number((2 ** ((bucket - offset - 0.5) / perDoubling)).toPrecision(3));

/**
 * The duration in ms that a share of all requests (0.5 for the median) did not exceed, within a tenth. `counts`:
 * requests by bucket. Null without requests.
 */
export function quantileMs(counts: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...counts].filter(([, n]) => n > 0).sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, n]) => sum + n, 0);
  let passed = 0;
  const found = sorted.find(([, n]) => (passed += n) >= share * total);
  return found === undefined ? null : msOf(found[0]);
}
