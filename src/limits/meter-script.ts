import { randomUUID } from "node:crypto";
import { partnerPrefix, type Redis, runScript, scriptOf } from "#src/infrastructure/redis.ts";

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
