import { createNextRun } from "#src/infrastructure/next-run.ts";
import type { Redis } from "#src/infrastructure/redis.ts";

const advanceLua = `local now = tonumber(redis.call("GET", KEYS[1]) or "0")
if tonumber(ARGV[1]) > now then redis.call("SET", KEYS[1], ARGV[1]) end`;

/**
 * Advances the cache generation, the change feed's number up to which marks workers have advanced it; never back.
 * Rejects while Redis is away; no cached rectangle is served then either.
 */
export async function advanceGeneration(redis: Redis, prefix: string, seq: number): Promise<void> {
  await redis.eval(advanceLua, 1, `${prefix}:seq`, seq);
}

/**
 * For a process that is about to report a change: advances the generation to `reached()`. A marks worker advances it
 * only after its commit, so others can see the commit earlier. Never rejects. Calls during a run share the next run.
 */
export const createGenerationAdvancer = (redis: Redis, prefix: string, reached: () => number) =>
  createNextRun(() => advanceGeneration(redis, prefix, reached()).catch(() => {})).run;
