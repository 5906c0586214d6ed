import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { Producer } from "#src/infrastructure/queues.ts";
import { isRedisAway, type Redis } from "#src/infrastructure/redis.ts";

/** What every worker role is made of. `redis` fails at once while Redis is away, `workerRedis` waits for ever. */
export interface RoleDeps {
  config: Config;
  db: Db;
  log: Log;
  clock: Clock;
  redis: Redis;
  workerRedis: Redis;
  producer: Producer;
}

export interface Role {
  start(): Promise<void>;
  /** Finishes what is under way and takes nothing new. */
  stop(): Promise<void>;
}

/** For a bullmq worker, which tells each attempt of its connections to get through: that Redis is away has been said. */
export const tellFault =
  (log: Log) =>
  (error: Error): void =>
    log[isRedisAway(error) ? "debug" : "warn"]({ err: error.message }, "worker");
