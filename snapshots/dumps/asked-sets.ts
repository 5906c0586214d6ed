import { LRUCache } from "lru-cache";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { type DumpSet, setName } from "#snapshots/dumps/dump.ts";

const rememberedMs = hourMs;
/** A set that is asked for all the time is noted once in so long. */
const againMs = minuteMs;
/** Of a set's JSON. */
const lengthMax = 1000;

/**
 * Which dumps have been asked for lately, over all web processes. `most`: how many sets are remembered. A caller who
 * invents new sets displaces the oldest ones only.
 */
export function createAskedSets(redis: Redis, prefix: string, most: number) {
  const key = `${prefix}:asked`;
  const notedAt = new LRUCache<string, number>({ max: Math.max(1, most) });
  let fresh: (string | number)[] = [];

  return {
    /** Remembers the request until the next `flush` writes it. */
    note(set: DumpSet, now: number): void {
      const name = setName(set);
      if (now - (notedAt.peek(name) ?? -Infinity) < againMs) return;
      const text = JSON.stringify(set);
      if (text.length > lengthMax) return;
      notedAt.set(name, now);
      if (fresh.length < 2 * most) fresh.push(now, text);
    },
    async flush(): Promise<void> {
      if (fresh.length === 0) return;
      const entries = fresh;
      fresh = [];
      try {
        await redis
          .multi()
          .zadd(key, ...entries)
          .zremrangebyrank(key, 0, -most - 1)
          .pexpire(key, rememberedMs)
          .exec();
      } catch (error) {
        // They are noted again with the next request.
        notedAt.clear();
        throw error;
      }
    },
    /** Those of the last hour, the latest first. Rejects while Redis is away. */
    async recent(now: number): Promise<DumpSet[]> {
      const found = await redis.zrevrangebyscore(key, "+inf", now - rememberedMs);
      const sets = found.map((text) => JSON.parse(text) as DumpSet).toReversed();
      // One set may have been written in several spellings.
      return [...new Map(sets.map((set) => [setName(set), set])).values()].toReversed();
    },
  };
}
