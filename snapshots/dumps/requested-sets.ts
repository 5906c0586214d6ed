import { LRUCache } from "lru-cache";
import { minuteMs } from "#src/domain/units.ts";
import { orWrongType, tellDamage } from "#src/infrastructure/checksum.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { type DumpSet, setKey, setOf } from "#snapshots/dumps/dump.ts";

/** A set is kept from its second request within this time until so long after its last one. */
export const rememberedMs = 10 * minuteMs;
/** A set that is asked for all the time is noted once in so long. */
const againMs = minuteMs;
/** Longest key of a set, bytes. */
const lengthMax = 1000;
/** Names of sets that were asked for once are remembered, so many for each kept set. */
const oncePerKept = 10;

// KEYS: sets that are kept, sets asked for once; each with the time of its last request.
// ARGV: how many are kept, remembered; ms for which they are; then time and key of each request.
const noteLua = `
local rememberedMs = tonumber(ARGV[3])
local latest = 0
for i = 4, #ARGV, 2 do
  local at, set = tonumber(ARGV[i]), ARGV[i + 1]
  latest = math.max(latest, at)
  local kept, once = redis.call('ZSCORE', KEYS[1], set), redis.call('ZSCORE', KEYS[2], set)
  local last = tonumber(kept or once or '-inf')
  if at - last > rememberedMs then
    redis.call('ZREM', KEYS[1], set)
    redis.call('ZADD', KEYS[2], at, set)
  else
    redis.call('ZADD', KEYS[1], 'GT', at, set)
    redis.call('ZREM', KEYS[2], set)
  end
end
for i = 1, 2 do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', latest - rememberedMs)
  redis.call('ZREMRANGEBYRANK', KEYS[i], 0, -tonumber(ARGV[i]) - 1)
  redis.call('PEXPIRE', KEYS[i], ARGV[3])
end`;

/**
 * Sets whose dumps are asked for again and again, over all web processes; at most `most` are kept. A caller who invents
 * new sets displaces the oldest ones only, and with single requests no kept one.
 */
export function createRequestedSets(redis: Redis, prefix: string, most: number) {
  const keptKey = `${prefix}:sets-kept`;
  const onceKey = `${prefix}:sets-once`;
  const noted = new LRUCache<string, { at: number; times: number }>({
    max: Math.max(1, most * oncePerKept),
  });
  let fresh: (string | number)[] = [];
  /** Drops keys that hold something else. */
  const drop = async (): Promise<[]> => {
    tellDamage(redis, "asked-sets");
    await Promise.all([redis.unlink(keptKey), redis.unlink(onceKey)]);
    return [];
  };

  return {
    /** Remembers the request until the next `flush` writes it. */
    note(set: DumpSet, now: number): void {
      const key = setKey(set);
      const last = noted.peek(key);
      const times = last === undefined || now - last.at > rememberedMs ? 0 : last.times;
      // The second request counts as much as the first.
      if (times > 1 && now - last!.at < againMs) return;
      if (Buffer.byteLength(key) > lengthMax || fresh.length >= 2 * most * oncePerKept) return;
      noted.set(key, { at: now, times: times + 1 });
      fresh.push(now, key);
    },
    async flush(): Promise<void> {
      if (fresh.length === 0) return;
      const entries = fresh;
      fresh = [];
      const limits = [most, most * oncePerKept, rememberedMs];
      try {
        const noted = redis.eval(noteLua, 2, keptKey, onceKey, ...limits, ...entries);
        if ((await orWrongType(noted)) === undefined) await drop();
      } catch (error) {
        // They are noted again with the next requests.
        noted.clear();
        throw error;
      }
    },
    /** The sets to be kept, the latest request first. Rejects while Redis is away. */
    async kept(now: number): Promise<DumpSet[]> {
      const range = redis.zrevrangebyscore(keptKey, "+inf", now - rememberedMs);
      const found = (await orWrongType(range)) ?? (await drop());
      const sets = found.map(setOf);
      if (sets.includes(null)) tellDamage(redis, "asked-sets");
      return sets.filter((set) => set !== null);
    },
  };
}
