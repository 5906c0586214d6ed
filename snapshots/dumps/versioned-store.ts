import type { Redis } from "#src/infrastructure/redis.ts";

/** Which of two snapshots is newer: by number, then `as_of`, then time of building. Times in ms. */
export interface Version {
  /** Number of the newest change in it. */
  seq: number;
  asOfMs: number;
  /** It contains what time alone changed until then. */
  builtAtMs: number;
}

/** Where a snapshot is kept, a hash of `seq`, `as_of`, `built_at` and other fields. */
export interface Shelf {
  key: string;
  /** Where each stored snapshot is announced, by `name`. */
  channel: string;
  name: string;
  /** It expires when it is not renewed for so long. */
  keptMs: number;
  /** After so long without renewal any snapshot replaces it: its database may have been restored. */
  silentMs: number;
}

// An older snapshot never replaces a newer one. Of two with one number the later one holds more changes by time.
const storeUnlessOlder = `
  local there = redis.call('HMGET', KEYS[1], 'seq', 'as_of', 'built_at')
  if there[1] and tonumber(ARGV[3]) - tonumber(there[3]) < tonumber(ARGV[5]) then
    for i = 1, 3 do
      local a, b = tonumber(there[i]), tonumber(ARGV[i])
      if a > b then return 0 end
      if a < b then break end
      if i == 3 then return 0 end
    end
  end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'seq', ARGV[1], 'as_of', ARGV[2], 'built_at', ARGV[3], unpack(ARGV, 7))
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('PUBLISH', KEYS[2], ARGV[6])
  return 1`;

/** Stores a snapshot unless a newer one is there; false when it is. Rejects while Redis is away. */
export async function saveVersion(
  redis: Redis,
  { key, channel, name, keptMs, silentMs }: Shelf,
  { seq, asOfMs, builtAtMs }: Version,
  fields: Readonly<Record<string, string | number | Buffer>>,
): Promise<boolean> {
  const times = [seq, asOfMs, builtAtMs, keptMs, silentMs];
  const values = [...times, name, ...Object.entries(fields).flat()];
  return (await redis.eval(storeUnlessOlder, 2, key, channel, ...values)) === 1;
}

// Only when it has the same number and content, and is older.
const renewIfSame = `
  local there = redis.call('HMGET', KEYS[1], 'seq', 'as_of', 'built_at', ARGV[5])
  if there[1] ~= ARGV[1] or there[4] ~= ARGV[6] then return 0 end
  if tonumber(there[2]) <= tonumber(ARGV[2]) and tonumber(there[3]) <= tonumber(ARGV[3]) then
    redis.call('HSET', KEYS[1], 'as_of', ARGV[2], 'built_at', ARGV[3])
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return 1`;

/**
 * Gives the snapshot on the shelf later times, when it has the number of `version` and the text `content` in `field`;
 * false when another one is there. Rejects while Redis is away.
 */
export async function renewVersion(
  redis: Redis,
  { key, keptMs }: Shelf,
  { seq, asOfMs, builtAtMs }: Version,
  field: string,
  content: string,
): Promise<boolean> {
  const values = [seq, asOfMs, builtAtMs, keptMs, field, content];
  return (await redis.eval(renewIfSame, 1, key, ...values)) === 1;
}

/** The version on the shelf and its fields `names`; null when there is none. */
export async function loadVersion(
  redis: Redis,
  key: string,
  names: readonly string[],
): Promise<(Version & { fields: Buffer[] }) | null> {
  const found = await redis.hmgetBuffer(key, "seq", "as_of", "built_at", ...names);
  if (found.some((value) => value === null)) return null;
  const [seq, asOfMs, builtAtMs] = found.slice(0, 3).map(Number) as [number, number, number];
  return { seq, asOfMs, builtAtMs, fields: found.slice(3) as Buffer[] };
}
