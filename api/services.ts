import type { Health } from "#api/health.ts";
import type { Clock } from "#src/clock.ts";
import type { Config } from "#src/config.ts";
import type { Db } from "#src/db.ts";
import type { KeyStore } from "#src/key-store.ts";
import type { Log } from "#src/log.ts";
import type { Meter } from "#src/meter.ts";
import type { Redis } from "#src/redis.ts";

/** What routes and middleware of one web process work with. */
export interface Services {
  config: Config;
  log: Log;
  clock: Clock;
  db: Db;
  redis: Redis;
  keys: KeyStore;
  meter: Meter;
  health: Health;
}
