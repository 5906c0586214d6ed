import { randomUUID } from "node:crypto";
import { minuteMs, secondMs } from "#src/domain/units.ts";
import {
  checksumOf,
  type Damage,
  orWrongType,
  type Part,
  tellDamage,
} from "#src/infrastructure/checksum.ts";
import { slices } from "#src/infrastructure/lists.ts";
import type { Redis } from "#src/infrastructure/redis.ts";

/** The order of snapshots: by number, then `as_of`, then time of building. Times in ms. */
export interface SnapshotVersion {
  /** Number of the newest change in it. */
  seq: number;
  asOfMs: number;
  /** Time of building: it contains all changes by the passing of time until then. */
  builtAtMs: number;
}

/** The place of a snapshot, a hash of `seq`, `as_of`, `built_at`, other fields, and their `sums` (`sumsOf`). */
export interface SnapshotPlace {
  key: string;
  /** The kind under which its damage is told. */
  kind: Damage;
  /** The channel on which each stored snapshot is announced, by `name`. */
  channel: string;
  name: string;
  /** Time without renewal after which it expires. */
  keptMs: number;
  /** Time without renewal after which any snapshot replaces it: its database may have been restored. */
  silentMs: number;
}

// An older snapshot never replaces a newer one. Of two with one number the later one holds more changes by the passing
// of time. A value that is no snapshot is replaced, and so is a snapshot from more than a minute after Redis's time:
// its builder had a wrong clock, and nothing would be newer until then.
const storeUnlessOlder = `
  local there = redis.pcall('HMGET', KEYS[1], 'seq', 'as_of', 'built_at')
  for i = 1, 3 do there[i] = tonumber(there[i] or nil) end
  local future = redis.call('TIME')[1] * ${secondMs} + ${minuteMs}
  local silentSince = tonumber(ARGV[3]) - tonumber(ARGV[5])
  if there[1] and there[2] and there[3] and there[3] > silentSince and there[3] < future then
    for i = 1, 3 do
      local a, b = there[i], tonumber(ARGV[i])
      if a > b then return 0 end
      if a < b then break end
      if i == 3 then return 0 end
    end
  end
  local long = KEYS[3] and redis.call('GET', KEYS[3])
  if KEYS[3] and not long then return redis.error_reply('the long field is gone') end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'seq', ARGV[1], 'as_of', ARGV[2], 'built_at', ARGV[3], unpack(ARGV, 8))
  if long then redis.call('HSET', KEYS[1], ARGV[7], long) end
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('PUBLISH', KEYS[2], ARGV[6])
  if long then redis.call('UNLINK', KEYS[3]) end
  return 1`;

/** A field that is too long for one command, in parts: joined for it they would stand in memory three times. */
interface LongField {
  name: string;
  parts: readonly Buffer[];
}

const partsAtOnce = 16;

/** Stores a snapshot unless a newer one is there; false when it is. Rejects while Redis is away. */
export async function saveVersion(
  redis: Redis,
  { key, channel, name, keptMs, silentMs }: SnapshotPlace,
  { seq, asOfMs, builtAtMs }: SnapshotVersion,
  fields: Readonly<Record<string, string | number | Buffer>>,
  long?: LongField,
): Promise<boolean> {
  const times = [seq, asOfMs, builtAtMs, keptMs, silentMs];
  const summed = [...Object.entries(fields), ...(long ? [[long.name, long.parts] as const] : [])];
  const sums = sumsOf(key, times.slice(0, 3), summed.map(sumOf).join(" "));
  const values = [...times, name, long?.name ?? "", ...Object.entries({ ...fields, sums }).flat()];
  const sent = long ? [`${key}:${randomUUID()}`] : [];
  for (const to of sent)
    for (const some of slices(long!.parts, partsAtOnce)) {
      await redis.append(to, Buffer.concat(some));
      await redis.pexpire(to, minuteMs);
    }
  const keys = [key, channel, ...sent];
  return (await redis.eval(storeUnlessOlder, keys.length, ...keys, ...values)) === 1;
}

/** A checksum of key, version and the checksums of the fields, then these. */
function sumsOf(key: string, version: readonly (number | Buffer)[], sums: string): string {
  return `${checksumOf(key, ...version, sums)} ${sums}`;
}

const sumOf = ([name, value]: readonly [string, Part]): string => `${name}:${checksumOf(value)}`;

// A snapshot that another process has stored in place of the damaged one stays.
const dropIfSame = `
  local sums = redis.pcall('HGET', KEYS[1], 'sums')
  if type(sums) == 'table' or (sums or '') == ARGV[1] then redis.call('UNLINK', KEYS[1]) end`;

/** What is stored at a place. */
export interface StoredSnapshot {
  version: SnapshotVersion;
  fields: Buffer[];
}

/**
 * The version at a place and its fields `names`; null when there is none. A damaged one is reported and
 * dropped, so that the next slot makes it anew. Rejects while Redis is away.
 */
export async function loadVersion(
  redis: Redis,
  { key, kind }: Pick<SnapshotPlace, "key" | "kind">,
  names: readonly string[],
): Promise<StoredSnapshot | null> {
  const all = ["sums", "seq", "as_of", "built_at", ...names];
  const found = (await orWrongType(redis.hmgetBuffer(key, ...all))) ?? [];
  if (found.length > 0 && found.every((value) => value === null)) return null;
  const sums = String(found[0] ?? "");
  if (found.length > 0 && !found.includes(null)) {
    const [version, fields] = [found.slice(1, 4) as Buffer[], found.slice(4) as Buffer[]];
    const known = sums.split(" ").slice(1);
    const isWhole = names.every((name, i) => known.includes(sumOf([name, fields[i] as Buffer])));
    const [seq, asOfMs, builtAtMs] = version.map(Number) as [number, number, number];
    if (isWhole && sumsOf(key, version, known.join(" ")) === sums)
      return { version: { seq, asOfMs, builtAtMs }, fields };
  }
  tellDamage(redis, kind);
  await redis.eval(dropIfSame, 1, key, sums);
  return null;
}
