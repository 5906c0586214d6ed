import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { hold } from "#test/harness/leaks.ts";
import { provided } from "#test/harness/provided.ts";

export interface TestRedis {
  redisUrl: string;
  /** Hash-tagged prefix of every key of this test file: REDIS_PREFIX of its roles. */
  redisPrefix: string;
  /** Deletes the keys under the prefix. */
  drop(): Promise<void>;
}

/** A key space of its own in the run's shared Redis, for one test file. Drop it in `after`. */
export function createTestRedis(): TestRedis {
  const redisUrl = provided("TEST_REDIS_URL");
  const redisPrefix = `{fm-${randomBytes(6).toString("hex")}}`;
  const clear = () => deleteKeys(redisUrl, redisPrefix);
  const letGo = hold(`Redis keys ${redisPrefix}`, clear);
  return {
    redisUrl,
    redisPrefix,
    drop: async () => {
      letGo();
      await clear();
    },
  };
}

/** Takes away everything that is in this key space. */
export async function deleteKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  try {
    // Keys may carry further text before the tag, as a queue library's do, and a partner's number in it.
    const match = `*${prefix.replace("}", "")}*`;
    for await (const keys of redis.scanStream({ match, count: 1000 })) {
      if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[]));
    }
  } finally {
    redis.disconnect();
  }
}
