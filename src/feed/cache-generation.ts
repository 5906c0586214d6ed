import type { Redis } from "#src/infrastructure/redis.ts";

/** Key of the cache generation: the change feed's number up to which marks workers have advanced it. */
export const generationKey = (prefix: string): string => `${prefix}:seq`;

const advanceLua = `local now = tonumber(redis.call("GET", KEYS[1]) or "0")
if tonumber(ARGV[1]) > now then redis.call("SET", KEYS[1], ARGV[1]) end`;

/** Advances the generation, never back. Rejects while Redis is away; no cached rectangle is served then either. */
export async function advanceGeneration(redis: Redis, prefix: string, seq: number): Promise<void> {
  await redis.eval(advanceLua, 1, generationKey(prefix), seq);
}

/**
 * For a process that is about to report a change: advances the generation to `reached()`. A marks worker advances it
 * only after its commit, so others can see the commit earlier. Never rejects. Calls during a run share the next run.
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
