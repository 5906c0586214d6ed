import type { Redis } from "#src/infrastructure/redis.ts";

/** Name of the number that cached rectangles are checked against: the change feed's, as far as marks have raised it. */
export const generationKey = (prefix: string): string => `${prefix}:seq`;

const raiseLua = `local now = tonumber(redis.call("GET", KEYS[1]) or "0")
if tonumber(ARGV[1]) > now then redis.call("SET", KEYS[1], ARGV[1]) end`;

/** Raises the number, never lowers it. Rejects while Redis is away: then nothing is served from its cache either. */
export async function advanceGeneration(redis: Redis, prefix: string, seq: number): Promise<void> {
  await redis.eval(raiseLua, 1, generationKey(prefix), seq);
}

/**
 * Raises the number to what `reached()` says, for a process that is about to tell somebody about it. A marks worker
 * raises it after its commit, so that the commit can be seen a little before. Never rejects. Calls that come while
 * one is under way share the next.
 */
export function createGenerationAdvancer(
  redis: Redis,
  prefix: string,
  reached: () => number,
): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const advance = (): Promise<void> => {
    if (running === null) {
      running = advanceGeneration(redis, prefix, reached())
        .catch(() => {})
        .finally(() => (running = null));
      return running;
    }
    next ??= running.then(() => {
      next = null;
      return advance();
    });
    return next;
  };
  return advance;
}
