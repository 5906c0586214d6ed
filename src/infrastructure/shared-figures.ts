import { readChecked, withChecksum } from "#src/infrastructure/checksum.ts";
import type { Redis } from "#src/infrastructure/redis.ts";

export type SharedFigures = ReturnType<typeof createSharedFigures>;

/**
 * Figures about the whole service that many processes show: one process asks, the others read its answer from Redis
 * (decisions 16.30). Without Redis each asks itself. `ask` gives a value that JSON can hold.
 */
export function createSharedFigures(redis: Redis, prefix: string) {
  return async <T>(name: string, keptMs: number, ask: () => Promise<T>): Promise<T> => {
    const key = `${prefix}:figures:2:${name}`;
    const known = await readChecked(redis, key, "figures").catch(() => null);
    if (known !== null) return JSON.parse(known) as T;
    const found = await ask();
    const text = withChecksum(key, JSON.stringify(found));
    await redis.set(key, text, "PX", keptMs).catch(() => undefined);
    return found;
  };
}
