import type { Redis } from "#src/infrastructure/redis.ts";

export type SharedFigures = ReturnType<typeof createSharedFigures>;

/**
 * Figures about the whole service that many processes show: one asks for them, the others read its answer from Redis
 * (docs/decisions.md 16.30). Without Redis each asks by itself. `ask` gives what JSON can say.
 */
export function createSharedFigures(redis: Redis, prefix: string) {
  return async <T>(name: string, keptMs: number, ask: () => Promise<T>): Promise<T> => {
    const key = `${prefix}:figures:${name}`;
    const known = await redis.get(key).catch(() => null);
    if (known !== null) return JSON.parse(known) as T;
    const found = await ask();
    await redis.set(key, JSON.stringify(found), "PX", keptMs).catch(() => undefined);
    return found;
  };
}
