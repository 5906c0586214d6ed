import { minuteMs, hourMs } from "#src/domain/units.ts";
import { type DumpSet, setName } from "#snapshots/dumps/dump-set.ts";
import type { Redis } from "#src/infrastructure/redis.ts";

/** Which dumps have been asked for lately, over all web processes. */
export interface AskedSets {
  /** Takes note; written with the next `flush`. */
  note(set: DumpSet, now: number): void;
  flush(): Promise<void>;
  /** Those of the last hour, the latest first. Rejects while Redis is away. */
  recent(now: number): Promise<DumpSet[]>;
}

const rememberedMs = hourMs;
/** A set that is asked for all the time is noted once in this while. */
const againMs = minuteMs;
const longest = 1000;

/** `most`: how many sets are remembered; a caller that makes up ever new ones pushes out only the oldest. */
export function createAskedSets(redis: Redis, prefix: string, most: number): AskedSets {
  const key = `${prefix}:asked`;
  const noted = new Map<string, number>();
  let fresh: (string | number)[] = [];

  return {
    note(set, now) {
      const name = setName(set);
      if (now - (noted.get(name) ?? -Infinity) < againMs) return;
      const text = JSON.stringify(set);
      if (text.length > longest) return;
      noted.delete(name);
      noted.set(name, now);
      if (noted.size > most) noted.delete(noted.keys().next().value as string);
      if (fresh.length < 2 * most) fresh.push(now, text);
    },
    async flush() {
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
        // Noted again when they are asked for again.
        noted.clear();
        throw error;
      }
    },
    async recent(now) {
      const found = await redis.zrevrangebyscore(key, "+inf", now - rememberedMs);
      const sets = found.map((text) => JSON.parse(text) as DumpSet).toReversed();
      // One set can have been written in several spellings.
      return [...new Map(sets.map((set) => [setName(set), set])).values()].toReversed();
    },
  };
}
