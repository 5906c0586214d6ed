import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { ageOf, slackMs } from "#src/domain/age.ts";
import { hourMs } from "#src/domain/units.ts";
import { checksumOf, orWrongType, tellDamage } from "#src/infrastructure/checksum.ts";
import { type Redis, runScript, scriptOf } from "#src/infrastructure/redis.ts";
import type { HashedKey } from "#src/keys/key-store.ts";

/** All keys in force, and the time, ms, at which their read of Postgres began. */
export interface KnownKeys {
  at: number;
  keys: readonly HashedKey[];
  /** Equal for equal keys in the same order. */
  sum: string;
}

/** Increase it when `KeyInfo` changes, so that old and new processes do not share keys. */
const format = 1;
const zip = promisify(gzip);
const unzip = promisify(gunzip);
/** As long as a model snapshot, because a process can start from both together. */
const keptMs = 48 * hourMs;

const sumOf = (text: string): string => hash("sha1", text, "base64url");

export const knownKeys = (at: number, keys: readonly HashedKey[]): KnownKeys => ({
  ...{ at, keys },
  sum: sumOf(JSON.stringify(keys)),
});

// ARGV: at, sum, checksum, lifetime, body (empty at first, because it is sent only if needed), and the latest possible
// time of a read: a later one comes from a wrong clock.
const script = scriptOf(`
local there = redis.call('HMGET', KEYS[1], 'at', 'sum')
local own, at = tonumber(ARGV[1]), tonumber(there[1] or -1) or -1
if at > tonumber(ARGV[6]) then at = -1 end
if at > own then return redis.call('HMGET', KEYS[1], 'at', 'sum', 'check', there[2] == ARGV[2] and 'at' or 'body') end
if own < 0 then return {} end
if there[2] ~= ARGV[2] and ARGV[5] == '' then return { 'send' } end
redis.call('HSET', KEYS[1], 'at', ARGV[1], 'sum', ARGV[2], 'check', ARGV[3])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'body', ARGV[5]) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {}`);

/**
 * The latest keys that any process has read, in Redis (decisions 21.16): hashes of the keys with their limits, switches
 * and bindings. A process that alone is cut off from Postgres gets changes from it.
 */
export function createSharedKeys(redis: Redis, prefix: string) {
  const key = `${prefix}:keys:${format}`;
  type Answer = (Buffer | null)[];
  const ask = async (
    { at, sum }: KnownKeys,
    now: number,
    body: Buffer | "",
  ): Promise<Answer | undefined> => {
    const values = [at, sum, checksumOf(key, at, sum), keptMs, body, now + slackMs];
    return orWrongType(runScript(redis, script, [key], values) as Promise<Answer>);
  };
  /** The stored keys; null when they are damaged. */
  const read = async (
    own: KnownKeys,
    [at, sum, check, body]: Answer,
  ): Promise<KnownKeys | null> => {
    const [time, content] = [Number(at), String(sum)];
    if (!body || String(check) !== checksumOf(key, time, content)) return null;
    if (content === own.sum) return { ...own, at: time };
    const text = await unzip(body).catch(() => null);
    if (text === null || sumOf(text.toString()) !== content) return null;
    return { at: time, keys: JSON.parse(text.toString()) as HashedKey[], sum: content };
  };
  return {
    /**
     * Stores this process's keys, or gives newer ones. `own` is null without keys. Keys that were read later than
     * `now`, by a wrong clock, are ignored, and damaged ones are removed. Rejects while Redis is away.
     */
    async exchange(own: KnownKeys | null, now: number): Promise<KnownKeys | null> {
      const known = own === null || ageOf(own.at, now) < 0 ? { at: -1, sum: "", keys: [] } : own;
      let answer = await ask(known, now, "");
      if (answer?.[0]?.toString() === "send")
        answer = await ask(known, now, await zip(JSON.stringify(known.keys), { level: 3 }));
      if (answer?.length === 0) return null;
      const found = answer === undefined ? null : await read(known, answer);
      if (found !== null) return found;
      tellDamage(redis, "keys");
      await redis.del(key);
      return null;
    },
  };
}
