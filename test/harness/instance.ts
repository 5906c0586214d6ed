import { loadConfig, type Config } from "#src/config.ts";
import { createTestDatabase } from "#test/harness/database.ts";
import { createTestRedis } from "#test/harness/redis.ts";

export interface TestInstance {
  /** Settings for spawned roles; `config` is the same, parsed, for roles in this process. */
  env: Record<string, string>;
  config: Config;
  databaseUrl: string;
  redisUrl: string;
  redisPrefix: string;
  drop(): Promise<void>;
}

/**
 * A database and a Redis key space for one test file, with the settings that make roles use them.
 *
 * @param settings further settings by their environment names
 */
export async function createTestInstance(
  settings: Record<string, string> = {},
): Promise<TestInstance> {
  const database = await createTestDatabase();
  const redis = createTestRedis();
  const env = {
    DATABASE_URL: database.databaseUrl,
    REDIS_URL: redis.redisUrl,
    REDIS_PREFIX: redis.redisPrefix,
    REPORTER_PEPPER: "pepper of the tests",
    LOG_LEVEL: "info",
    PORT: "0",
    HOST: "127.0.0.1",
    ...settings,
  };
  return {
    env,
    config: loadConfig(env),
    databaseUrl: database.databaseUrl,
    redisUrl: redis.redisUrl,
    redisPrefix: redis.redisPrefix,
    drop: async () => {
      await redis.drop();
      await database.drop();
    },
  };
}
