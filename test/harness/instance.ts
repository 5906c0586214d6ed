import { type Config, loadConfig, settings } from "#src/infrastructure/config.ts";
import { numbers } from "#src/infrastructure/settings/numbers.ts";
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
 * How long roles wait for their servers and for each other in tests: a busy machine may hold any of them up for seconds,
 * which is no fault. A test that takes a server away wants `usualPatience`.
 */
export const patience = {
  QUERY_TIMEOUT_MS: "60000",
  LOCK_TIMEOUT_MS: "60000",
  ACQUIRE_TIMEOUT_MS: "60000",
  REDIS_TIMEOUT_MS: "30000",
  WAIT_MS: "60000",
  TEST_NUMBERS: "true",
};

/** The times of production, for tests in which a server goes away or a process is frozen. */
export const usualPatience = Object.fromEntries([
  ["WAIT_MS", String(numbers.waitMs)],
  ["TEST_NUMBERS", "true"],
  ...Object.values(settings)
    .filter(({ env }) => env in patience && env !== "TEST_NUMBERS")
    .map(({ env, fallback }) => [env, String(fallback)]),
]);

/**
 * A database and a Redis key space for one test file, with the settings that make roles use them.
 *
 * @param given further settings by their environment names
 */
export async function createTestInstance(
  given: Record<string, string> = {},
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
    // A chance is written seconds after its mark: what a test has read would change under it.
    CHANCE: "false",
    // It would ask the web processes of tests whose servers are away.
    CANARY: "false",
    ...patience,
    ...given,
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
