import type { Redis } from "#src/infrastructure/redis.ts";

/** Bytes of an entry besides its body. */
const overhead = 300;
// Longer than any entry's life, so that the list outlives its entries.
const listedS = 7200;

// An expired entry stays listed until its turn comes: the budget is never exceeded, only used less.
const storeLua = `
  if not redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return end
  local size = #ARGV[1] + tonumber(ARGV[4])
  redis.call('RPUSH', KEYS[2], size .. ' ' .. KEYS[1])
  local used = redis.call('INCRBY', KEYS[3], size)
  while used > tonumber(ARGV[3]) do
    local oldest = redis.call('LPOP', KEYS[2])
    if not oldest then break end
    local freed, key = string.match(oldest, '^(%d+) (.*)$')
    redis.call('DEL', key)
    used = redis.call('DECRBY', KEYS[3], freed)
  end
  redis.call('EXPIRE', KEYS[2], ARGV[5])
  redis.call('EXPIRE', KEYS[3], ARGV[5])`;

/**
 * Answers of rectangles in Redis, for all processes (docs/decisions.md 8). Every call rejects while Redis is away.
 * `budget`: most bytes of all entries together. Anonymous requests must not fill Redis, which the queue needs.
 */
export function createRectangleStore(redis: Redis, prefix: string, budget: number) {
  const key = (name: string): string => `${prefix}:rect:${name}`;
  return {
    load: (name: string): Promise<Buffer | null> => redis.getBuffer(key(name)),
    /** Keeps a body for `lifeMs`, unless it is there already. Beyond the budget the oldest entries are deleted. */
    async save(name: string, body: Buffer, lifeMs: number): Promise<void> {
      const keys = [key(name), `${prefix}:rects`, `${prefix}:rects:bytes`];
      const life = Math.max(1, Math.floor(lifeMs));
      await redis.eval(storeLua, keys.length, ...keys, body, life, budget, overhead, listedS);
    },
  };
}
