import { LRUCache } from "lru-cache";
import { dayS } from "#src/domain/units.ts";
import { randomUUID } from "node:crypto";
import { partnerPrefix, type Redis, runScript, scriptOf } from "#src/infrastructure/redis.ts";

/** Use of a minute by all processes together, by Redis's last answer. */
export interface Seen {
  minute: number;
  mn: number;
}
const unseen: Seen = { minute: 0, mn: 0 };

/**
 * A limiter of this process alone, with the arithmetic of the shared one. Remembers at most `max` buckets; the one
 * longest unused is forgotten first.
 */
export function createLocalLimiter(max: number) {
  // `max` would reserve spare for all buckets at once, 1 MB for each of a process's nine limiters.
  const buckets = new LRUCache<string, LocalCount & { seen: Seen }>({
    ...{ maxSize: max, sizeCalculation: () => 1 },
  });

  return {
    /** Grants up to `n` in the minute and UTC day of `nowS`. Gives the use with this call. */
    take(bucket: string, n: number, rpm: number, daily: number, nowS: number): Counts {
      const [minute, day] = [minuteOf(nowS), dayOf(nowS)];
      const old = buckets.peek(bucket);
      const mn = old?.minute === minute ? old.mn : 0;
      const dn = old?.day === day ? old.dn : 0;
      const granted = Math.max(0, Math.min(n, rpm - mn, daily - dn));
      const seen = old?.seen ?? unseen;
      buckets.set(bucket, { bucket, minute, mn: mn + granted, day, dn: dn + granted, seen });
      return { granted, mn: mn + granted, dn: dn + granted };
    },
    /** Continues from the counts of the shared limiter. */
    observe: (bucket: string, mn: number, dn: number, nowS: number) => {
      const seen = { minute: minuteOf(nowS), mn };
      buckets.set(bucket, { bucket, ...seen, day: dayOf(nowS), dn, seen });
    },
    /** The last observed use of the minute, without later grants of this process. */
    seen: (bucket: string): Seen => buckets.peek(bucket)?.seen ?? unseen,
  };
}

/** Minutes since the epoch. */
export const minuteOf = (nowS: number): number => Math.floor(nowS / 60);

/** UTC days since the epoch. */
export const dayOf = (nowS: number): number => Math.floor(nowS / dayS);

/** The verdict of the meter on one request (docs/contract.md 8). */
export interface QuotaDecision {
  granted: boolean;
  /** The limit that refused it. */
  hit: "minute" | "day" | null;
  limit: number;
  remaining: number;
  /** Unix time at which the minute ends. */
  resetS: number;
  dailyLimit: number;
  dailyRemaining: number;
  /** Seconds until the limit that was hit is reset; 0 when granted. */
  retryAfterS: number;
  /** The UTC day it was counted in, in days since the epoch. */
  day: number;
}

interface Facts {
  granted: boolean;
  rpm: number;
  daily: number;
  /** Use in the minute and in the day, with this request. */
  mn: number;
  dn: number;
  nowS: number;
}

/** Puts a verdict together. A request that both limits refuse is refused by the minute. */
export function quotaDecision({ granted, rpm, daily, mn, dn, nowS }: Facts): QuotaDecision {
  const resetS = (minuteOf(nowS) + 1) * 60;
  const dayEndS = (dayOf(nowS) + 1) * dayS;
  const hit = granted ? null : mn >= rpm ? "minute" : "day";
  const endS = hit === "minute" ? resetS : dayEndS;
  return {
    granted,
    hit,
    limit: rpm,
    remaining: Math.max(0, rpm - mn),
    resetS,
    dailyLimit: daily,
    dailyRemaining: Math.max(0, daily - dn),
    retryAfterS: hit === null ? 0 : Math.max(1, Math.ceil(endS - nowS)),
    day: dayOf(nowS),
  };
}

/** Most counts of each kind in one call. */
const perCall = 500;

/** Free places for waiting counts of each kind, so that an outage cannot fill memory. */
export interface SpareCounts {
  unsent: number;
  notes: number;
}

/** Sums of counts that wait for Redis, as many as `spare` has places. Lanes share one `spare`. */
export function createUnsentCounts(spare: SpareCounts) {
  const unsent = new Map<string, UnsentCount>();
  const notes = new Map<string, Note>();

  const addNote = (note: Note): void => {
    const key = `${note.usage} ${note.day} ${note.field}`;
    const before = notes.get(key);
    if (before !== undefined) before.n += note.n;
    else if (spare.notes > 0) {
      spare.notes -= 1;
      notes.set(key, { ...note });
    }
  };

  const addCount = (count: UnsentCount): void => {
    const before = unsent.get(count.bucket);
    if (before === undefined) {
      if (spare.unsent <= 0) return;
      spare.unsent -= 1;
      unsent.set(count.bucket, { ...count });
      return;
    }
    const [newer, older] = count.minute < before.minute ? [before, count] : [count, before];
    unsent.set(count.bucket, {
      ...newer,
      mn: newer.mn + (older.minute === newer.minute ? older.mn : 0),
      dn: newer.dn + (older.day === newer.day ? older.dn : 0),
      // Keeps the older floors, because a later floor may include these requests.
      floor: (older.day === newer.day ? older : newer).floor,
      floorMn: (older.minute === newer.minute ? older : newer).floorMn,
    });
  };

  return {
    /**
     * Adds `n` requests that were granted without Redis, to the durable count of their day (`durable`) and to Redis's
     * last count of their minute (`seen`).
     */
    addGranted(
      bucket: string,
      n: number,
      nowS: number,
      durable: { day: number; count: number } | null,
      seen: Seen,
    ): void {
      const [minute, day] = [minuteOf(nowS), dayOf(nowS)];
      const floor = durable?.day === day ? durable.count : 0;
      const floorMn = seen.minute === minute ? seen.mn : 0;
      addCount({ bucket, minute, mn: n, day, dn: n, floor, floorMn });
    },
    /** Adds to a field of a day's usage. */
    note: (usage: string, day: number, field: string, n = 1): void =>
      addNote({ usage, day, field, n }),
    /** Takes out the counts for one call. */
    takeBatch() {
      const batch = { unsent: takeOut(unsent), notes: takeOut(notes) };
      spare.unsent += batch.unsent.length;
      spare.notes += batch.notes.length;
      return batch;
    },
    /** Puts back the counts of a failed call. */
    restore(batch: { unsent: readonly UnsentCount[]; notes: readonly Note[] }): void {
      batch.unsent.forEach(addCount);
      batch.notes.forEach(addNote);
    },
    /** True when requests that were granted without Redis are waiting. */
    hasGranted: (): boolean => unsent.size > 0,
    size: (): number => unsent.size + notes.size,
  };
}

function takeOut<T>(from: Map<string, T>): T[] {
  const taken = [...from].slice(0, perCall);
  for (const [key] of taken) from.delete(key);
  return taken.map(([, value]) => value);
}

/** One bucket's part of a call. `uses`: [label, n] in the order of arrival; without uses nothing is counted. */
export interface Take {
  bucket: string;
  usage: string;
  rpm: number;
  daily: number;
  floorDay: number;
  floor: number;
  /** Redis's last count of a minute, over all processes. */
  floorMinute: number;
  floorMn: number;
  uses: [label: string, n: number][];
}

/** Counts of a local limiter. Minute and day are numbers since the epoch. */
export interface LocalCount {
  bucket: string;
  minute: number;
  mn: number;
  day: number;
  dn: number;
}

/** Requests granted now, and the use of minute and day with them. */
export interface Counts {
  granted: number;
  mn: number;
  dn: number;
}

/**
 * Requests that were granted while Redis was away. They are added to `floor`, the durable count of that day, and to
 * `floorMn`, Redis's last count of that minute; each is 0 if unknown.
 */
export interface UnsentCount extends LocalCount {
  floor: number;
  floorMn: number;
}

/** A count to add to a day's usage. */
export interface Note {
  usage: string;
  day: number;
  field: string;
  n: number;
}

/** The partner of a bucket or usage: 12 of `p12`, `w12` and `pk:12:…`. */
export const partnerIdIn = (name: string): string => /\d+/.exec(name)?.[0] ?? name;

/** The key of a bucket's minute and day. */
export const meterKey = (prefix: string, bucket: string): string =>
  `${partnerPrefix(prefix, partnerIdIn(bucket))}:meter:${bucket}`;

/** The key of a partner's minutes, to be followed by `:` and the UTC day. */
export const minutesKey = (prefix: string, bucket: string): string =>
  `${partnerPrefix(prefix, partnerIdIn(bucket))}:minutes:${bucket}`;

// Checks and counts minute, day and usage in one script, so that limits are exact over all processes.
const script = scriptOf(`
local call = cjson.decode(ARGV[1])
local now = tonumber(redis.call('TIME')[1]) + call.offset
local minute, day = math.floor(now / 60), math.floor(now / 86400)

local function counts(key)
  local v = redis.call('HMGET', key, 'm', 'mn', 'd', 'dn')
  local m, n = tonumber(v[1]), tonumber(v[2])
  local mn = m == minute and n or 0
  local over = m and m < minute and n > 0 and { m, n }
  if tonumber(v[3]) == day then return mn, tonumber(v[4]), true, over end
  return mn, 0, false, over
end

-- Once a minute: how many minutes of a day had so many requests, to two digits, rounded up.
local function tell(minutes, over)
  local n, step = over[2], 1
  while n / step >= 100 do step = step * 10 end
  n = math.ceil(n / step) * step
  local key = minutes .. ':' .. string.format('%d', math.floor(over[1] / 1440))
  if redis.call('HINCRBY', key, string.format('%d', n), 1) == 1 then redis.call('EXPIRE', key, 1296000) end
end

local function refuse(minutes, n)
  local key = minutes .. ':' .. string.format('%d', day)
  if redis.call('HINCRBY', key, 'refused', n) == n then redis.call('EXPIRE', key, 1296000) end
end

local function save(key, mn, dn, known)
  redis.call('HSET', key, 'm', minute, 'mn', mn, 'd', day, 'dn', dn)
  if not known then redis.call('EXPIRE', key, 172800) end
end

-- KEYS[k] is a usage and the next one the index of its partner's open hashes.
local function count(k, onDay, field, n)
  local key = KEYS[k] .. ':' .. string.format('%d', onDay)
  if redis.call('HINCRBY', key, field, n) == n then
    redis.call('HSETNX', key, 'id', call.id)
    redis.call('EXPIRE', key, 3456000)
    redis.call('SADD', KEYS[k + 1], key)
  end
end

for _, o in ipairs(call.unsent) do
  local key = KEYS[o.k]
  local mn, dn, known = counts(key)
  if o.minute == minute then mn = math.max(mn, o.floorMn) + o.mn end
  if o.day == day then save(key, mn, math.max(dn, o.floor) + o.dn, known) end
end
for _, note in ipairs(call.notes) do
  count(note.k, note.day, note.field, note.n)
end

local out = { now }
for _, t in ipairs(call.takes) do
  local key = KEYS[t.k]
  local mn, dn, known, over = counts(key)
  if t.floorDay == day and t.floor > dn then dn = t.floor end
  -- Redis has lost counts: the others must find them again, also when this process gets nothing.
  local isLost = t.floorMinute == minute and t.floorMn > mn
  if isLost then mn = t.floorMn end
  local n = 0
  for _, use in ipairs(t.uses) do n = n + use[2] end
  local granted = math.max(0, math.min(n, t.rpm - mn, t.daily - dn))
  if t.minutes and n > granted then refuse(KEYS[t.minutes], n - granted) end
  mn, dn = mn + granted, dn + granted
  if granted > 0 or isLost then save(key, mn, dn, known) end
  if granted > 0 then
    if over and t.minutes then tell(KEYS[t.minutes], over) end
    local left = granted
    for _, use in ipairs(t.uses) do
      local counted = math.min(left, use[2])
      if counted > 0 then count(t.k + 1, day, use[1], counted) end
      left = left - counted
    end
  end
  out[#out + 1] = granted
  out[#out + 1] = mn
  out[#out + 1] = dn
end
return out
`);

/**
 * Runs the script. Gives Redis's time (seconds, shifted as the process's clock is), and for each take the granted
 * requests and the use of minute and day after this call. Rejects when Redis is away or too slow; the script may have
 * run or not. On a cluster all parts of a call must concern the partner `partnerId`.
 */
export async function runMeter(
  redis: Redis,
  prefix: string,
  offsetS: number,
  call: { takes: Take[]; unsent: UnsentCount[]; notes: Note[] },
  partnerId = "",
): Promise<{ nowS: number; takes: Counts[] }> {
  // Every key is declared, and a partner's keys carry its hash tag. The first one leads even an empty call to their node.
  const keys = [`${partnerPrefix(prefix, partnerId)}:usage`];
  const pushUsage = (usage: string): number => {
    const own = partnerPrefix(prefix, partnerIdIn(usage));
    return keys.push(`${own}:usage:${usage}`, `${own}:usage`) - 1;
  };
  const argument = JSON.stringify({
    offset: offsetS,
    // The id of a day's usage from its first request on, so that it is added to the durable rows once.
    id: randomUUID(),
    unsent: call.unsent.map((count) => ({
      ...count,
      k: keys.push(meterKey(prefix, count.bucket)),
    })),
    notes: call.notes.map((note) => ({ ...note, k: pushUsage(note.usage) })),
    takes: call.takes.map(({ bucket, usage, ...take }) => {
      const k = keys.push(meterKey(prefix, bucket));
      pushUsage(usage);
      // Minutes only for a partner's own budget: viewers are too many, and their minutes are never shown.
      const minutes = bucket === usage ? keys.push(minutesKey(prefix, bucket)) : undefined;
      return { k, ...take, minutes };
    }),
  });
  const [nowS = 0, ...counts] = (await runScript(redis, script, keys, [argument])) as number[];
  const takes = call.takes.map((_, i) => ({
    granted: counts[3 * i] ?? 0,
    mn: counts[3 * i + 1] ?? 0,
    dn: counts[3 * i + 2] ?? 0,
  }));
  return { nowS, takes };
}
