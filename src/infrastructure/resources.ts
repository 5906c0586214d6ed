import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { Redis } from "#src/infrastructure/redis.ts";

/** What a process has one of. Each part says which of them it needs: `Pick<Resources, "db" | "log">`. */
export interface Resources {
  db: Db;
  config: Config;
  log: Log;
  clock: Clock;
  redis: Redis;
}
