import type { Redis } from "#src/redis.ts";
import type { Dump, DumpHead } from "#snapshots/dump.ts";

/** The newest dump in Redis, for all processes. Every call rejects while Redis is away. */
export interface DumpStore {
  /** Stores a dump unless a newer one is there; false when it is. Wakes the web processes. */
  save(dump: Dump): Promise<boolean>;
  head(): Promise<DumpHead | null>;
  load(): Promise<Dump | null>;
  /** The channel on which a stored dump is announced. */
  channel: string;
}

/** Raise it when the fields or the JSON change, so that old and new processes keep apart. */
const version = 1;

// An older dump never replaces a newer one; of one number the later-built holds more of what time changed.
const storeUnlessOlder = `
  local there = redis.call('HMGET', KEYS[1], 'seq', 'as_of', 'built_at')
  if there[1] then
    for i = 1, 3 do
      local a, b = tonumber(there[i]), tonumber(ARGV[i])
      if a > b then return 0 end
      if a < b then break end
      if i == 3 then return 0 end
    end
  end
  redis.call('HSET', KEYS[1], 'seq', ARGV[1], 'as_of', ARGV[2], 'built_at', ARGV[3],
    'count', ARGV[4], 'sum', ARGV[5], 'gzip', ARGV[6], 'br', ARGV[7])
  redis.call('PEXPIRE', KEYS[1], ARGV[8])
  redis.call('PUBLISH', KEYS[2], ARGV[1])
  return 1`;

/** `keptMs`: a dump that nobody renews goes, so that one with too high a number cannot stay for ever. */
export function createDumpStore(redis: Redis, prefix: string, keptMs: number): DumpStore {
  const key = `${prefix}:dump:${version}`;
  const channel = `${prefix}:dumps`;
  const headFields = ["seq", "as_of", "built_at", "count", "sum"];
  const headOf = (values: readonly (string | null)[]): DumpHead | null => {
    const [seq, asOfMs, builtAtMs, count] = values.map(Number) as [number, number, number, number];
    const sum = values[4];
    return sum ? { seq, asOfMs, builtAtMs, count, sum } : null;
  };
  return {
    channel,
    save: async ({ seq, asOfMs, builtAtMs, count, sum, gzip, br }) => {
      const values = [seq, asOfMs, builtAtMs, count, sum, gzip, br, keptMs];
      return (await redis.eval(storeUnlessOlder, 2, key, channel, ...values)) === 1;
    },
    head: async () => headOf(await redis.hmget(key, ...headFields)),
    load: async () => {
      const values = await redis.hmgetBuffer(key, ...headFields, "gzip", "br");
      const head = headOf(values.slice(0, 5).map((value) => value?.toString() ?? null));
      const [gzip, br] = values.slice(5);
      return head !== null && gzip && br ? { ...head, gzip, br } : null;
    },
  };
}
