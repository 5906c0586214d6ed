import { randomUUID } from "node:crypto";
import { generationsKey } from "#src/feed/cache-generations.ts";
import {
  checksumLength,
  checksumOf,
  orWrongType,
  tellDamage,
} from "#src/infrastructure/checksum.ts";
import { runScript, type Redis, scriptOf } from "#src/infrastructure/redis.ts";

/** The packing of a stored answer's body, as `Content-Encoding` names it. */
export type Coding = "gzip" | "br";

/** An answer without its body: everything else that a later answer with this content needs. */
export interface RectangleHead {
  etag: string;
  coding: Coding;
  asOfMs: number;
  /** The service's time (ms) at which its use ends: its life is over, or the passing of time changes its content. */
  endsAt: number;
  count: number;
  truncated: boolean;
}

/** A stored answer. */
export interface Rectangle extends RectangleHead {
  epoch: string;
  /** It holds all changes of the feed up to this number. */
  seq: number;
  /** Its body, packed. */
  body: Buffer;
}

/** A rectangle to look for: the name of its answer, and the cells around it (`cellsAround`). */
export interface RectangleQuestion {
  name: string;
  cells: readonly string[];
}

/** The state of the cache when a question was answered. */
export interface CacheLookup {
  epoch: string;
  /** The number of the last change in the cells of the question. */
  generation: number;
  /** The stored answer, when it is good under this epoch and generation. Its `endsAt` is not checked. */
  rectangle: Rectangle | null;
}

/** True when an answer holds all changes from before the look-up in the cache. */
export const isCurrent = (
  { epoch, seq }: Pick<Rectangle, "epoch" | "seq">,
  looked: Pick<CacheLookup, "epoch" | "generation">,
): boolean => epoch === looked.epoch && seq >= looked.generation;

export type RectangleStore = ReturnType<typeof createRectangleStore>;

/** Bytes of an entry besides its body. */
const overhead = 400;
// Longer than any entry's life, so that the accounts outlive the entries.
const accountS = 7200;

const lookUpScript = scriptOf(`
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then
  epoch = ARGV[1]
  redis.call('HSET', KEYS[1], 'epoch', epoch)
end
local out, at = { epoch }, 2
for i = 2, #KEYS do
  local n = tonumber(ARGV[at])
  local generation = 0
  for _, seq in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV, at + 1, at + n))) do
    if seq then generation = math.max(generation, tonumber(seq) or ${Number.MAX_SAFE_INTEGER}) end
  end
  at = at + 1 + n
  local entry = redis.pcall('HMGET', KEYS[i], 'epoch', 'seq', 'head')
  local good = entry[1] == epoch and (tonumber(entry[2]) or -1) >= generation
  out[#out + 1] = generation
  out[#out + 1] = good and entry[2]
  out[#out + 1] = good and entry[3]
  out[#out + 1] = good and redis.call('HGET', KEYS[i], 'body')
end
return out`);

// Expired entries are dropped first, then those that expire next, until the rest is within the budget.
const saveScript = scriptOf(`
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return 0 end
local entry, ends, sizes, total = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local life, budget = tonumber(ARGV[5]), tonumber(ARGV[6])
local function forget(name)
  local freed = redis.call('HGET', sizes, name)
  redis.call('ZREM', ends, name)
  redis.call('HDEL', sizes, name)
  redis.call('UNLINK', name)
  if freed then redis.call('DECRBY', total, freed) end
end
forget(entry)
local size = #ARGV[4] + tonumber(ARGV[7])
local used = redis.call('INCRBY', total, size)
redis.call('HSET', sizes, entry, size)
redis.call('ZADD', ends, now + life, entry)
redis.call('HSET', entry, 'epoch', ARGV[1], 'seq', ARGV[2], 'head', ARGV[3], 'body', ARGV[4])
redis.call('PEXPIRE', entry, life)
for _, name in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, 16)) do forget(name) end
while tonumber(redis.call('GET', total)) > budget do
  local first = redis.call('ZRANGE', ends, 0, 0)[1]
  if not first then redis.call('SET', total, 0) break end
  forget(first)
end
for _, key in ipairs({ ends, sizes, total }) do redis.call('EXPIRE', key, ARGV[8]) end
return 1`);

/** The facts of an entry as they are stored: behind a checksum of all that belongs to it. */
const headOf = (
  name: string,
  { epoch, seq }: { epoch: string; seq: number },
  facts: string,
  body: Buffer,
): string => checksumOf(name, epoch, seq, facts, body) + facts;

/**
 * Answers of rectangles in Redis, for all processes (decisions 8). Every call rejects while Redis is away.
 * `budget`: most bytes of all entries together. Anonymous requests must not fill Redis, which the queue needs.
 */
export function createRectangleStore(redis: Redis, prefix: string, budget: number) {
  const entryKey = (name: string): string => `${prefix}:rectangle:${name}`;
  const account = `${prefix}:rectangles`;

  return {
    /** The state of the cache for each question, in one call. */
    async lookUp(questions: readonly RectangleQuestion[]): Promise<CacheLookup[]> {
      const keys = [generationsKey(prefix), ...questions.map(({ name }) => entryKey(name))];
      const values = questions.flatMap(({ cells }) => [cells.length, ...cells]);
      const found = await runScript(redis, lookUpScript, keys, [randomUUID(), ...values]);
      const [epoch, ...rest] = found as [Buffer, ...(Buffer | number | null)[]];
      return questions.map(({ name }, i) => {
        const part = rest.slice(i * 4, i * 4 + 4) as [number, ...(Buffer | null)[]];
        const [generation, seq, head, body] = part;
        const looked = { epoch: String(epoch), generation };
        if (!seq) return { ...looked, rectangle: null };
        const version = { epoch: looked.epoch, seq: Number(seq) };
        const facts = String(head).slice(checksumLength);
        if (body && headOf(name, version, facts, body) === String(head))
          return {
            ...looked,
            rectangle: { ...(JSON.parse(facts) as RectangleHead), ...version, body },
          };
        tellDamage(redis, "rectangle");
        return { ...looked, rectangle: null };
      });
    },
    /** Keeps an answer for `lifeMs`, in place of an older one; not when the epoch has changed since. */
    async save(name: string, rectangle: Rectangle, lifeMs: number): Promise<void> {
      const { epoch, seq, body, ...head } = rectangle;
      const keys = [entryKey(name), account, `${account}:sizes`, `${account}:bytes`];
      const life = Math.max(1, Math.floor(lifeMs));
      const checked = headOf(name, { epoch, seq }, JSON.stringify(head), body);
      const values = [epoch, seq, checked, body, life, budget, overhead, accountS];
      const all = [generationsKey(prefix), ...keys];
      const kept = await orWrongType(runScript(redis, saveScript, all, values));
      if (kept === undefined) {
        // The damaged accounts are dropped and begin anew.
        tellDamage(redis, "rectangle");
        await Promise.all(keys.map((key) => redis.unlink(key)));
      }
    },
  };
}
