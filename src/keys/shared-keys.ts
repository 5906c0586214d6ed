import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { ageOf, slackMs } from "#src/domain/age.ts";
import { hourMs } from "#src/domain/units.ts";
import { checksumOf, orWrongType, tellDamage } from "#src/infrastructure/checksum.ts";
import { type Redis, runScript, scriptOf } from "#src/infrastructure/redis.ts";
import type { HashedKey } from "#src/keys/key-info.ts";

/** All keys in force, and from when that is known: when the reading of Postgres began, ms. */
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
/** As long as a model snapshot, which a process can start from together with these keys. */
const keptMs = 48 * hourMs;

const sumOf = (text: string): string => hash("sha1", text, "base64url");

export const knownKeys = (at: number, keys: readonly HashedKey[]): KnownKeys => ({
  ...{ at, keys },
  sum: sumOf(JSON.stringify(keys)),
});

// ARGV: at, sum, checksum, how long it is kept, body (empty at first: it is sent only where it is needed), and the time
// after which none can have been read yet: a wrong clock said so.
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
 * The latest keys that any process has read, in Redis (decisions 21.16): hashes of the keys with their limits,
 * switches and bindings. Who is cut from Postgres alone learns from it what has changed.
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
  /** What was stored; null when it is not whole. */
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
     * Stores what this process knows, or gives what was known later. `own` null: it knows nothing. What was read later
     * than `now`, by a clock that was wrong, counts as not there. What is not whole is removed. Rejects while Redis is away.
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
