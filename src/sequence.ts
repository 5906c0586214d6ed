import type { Redis } from "#src/redis.ts";

/** Name of the number that cached rectangles are checked against: the change feed's, as far as marks have raised it. */
export const sequenceKey = (prefix: string): string => `${prefix}:seq`;

const raiseLua = `local now = tonumber(redis.call("GET", KEYS[1]) or "0")
if tonumber(ARGV[1]) > now then redis.call("SET", KEYS[1], ARGV[1]) end`;

/** Raises the number, never lowers it. Rejects while Redis is away: then nothing is served from its cache either. */
export async function raiseSequence(redis: Redis, prefix: string, seq: number): Promise<void> {
  await redis.eval(raiseLua, 1, sequenceKey(prefix), seq);
}
