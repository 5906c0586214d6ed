import { renewEpoch } from "#src/feed/cache-generations.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis } from "#src/infrastructure/redis.ts";

const patienceMs = 1000;

/**
 * Drops all cached rectangles, after a command that changes many stations. Without Redis it does nothing: the web
 * processes also drop changed rectangles by themselves.
 */
export async function dropRectangles(config: Config): Promise<void> {
  if (config.redisUrl === "") return;
  const redis = createRedis(config, createLog({ logLevel: "silent" }, "operator"));
  try {
    if (redis.status !== "ready")
      await new Promise<void>((resolve, reject) => {
        redis.once("ready", resolve);
        setTimeout(() => reject(new Error("Redis does not answer")), patienceMs).unref();
      });
    await renewEpoch(redis, config.redisPrefix);
  } catch {
    // The command itself has succeeded.
  } finally {
    redis.disconnect();
  }
}
