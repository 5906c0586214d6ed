import type { Health } from "#api/http/health.ts";
import type { Intake } from "#api/marks/intake.ts";
import type { Metrics } from "#api/metrics/metrics.ts";
import type { GzipListCache } from "#api/stations/gzip-list-cache.ts";
import type { Rectangles } from "#api/stations/rectangles.ts";
import type { CityStore } from "#snapshots/cities.ts";
import type { LatestDump } from "#snapshots/dumps/latest-dump.ts";
import type { Locations, ReadModel } from "#snapshots/model/model.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Follower } from "#src/feed/follower.ts";
import type { KeyStore } from "#src/keys/key-store.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { Meter } from "#src/limits/meter.ts";
import type { Producer } from "#src/infrastructure/queues.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import type { UsedToday } from "#src/limits/used-today.ts";
import type { Waiters } from "#src/marks/waiters.ts";

/** What routes and middleware of one web process work with. */
export interface Services {
  config: Config;
  log: Log;
  clock: Clock;
  db: Db;
  redis: Redis;
  keys: KeyStore;
  meter: Meter;
  /** What partners have durably used today. */
  usedToday: UsedToday;
  health: Health;
  /** All stations as they are served. */
  model: ReadModel;
  /** All cities. */
  cities: CityStore;
  /** The newest dump of the whole country. */
  dumps: LatestDump;
  /** Lists of stations as gzip. */
  lists: GzipListCache;
  /** Answers of rectangles that all processes share. */
  rectangles: Rectangles;
  /** Makes every process's cached rectangles from before what this one has applied unreachable. Never rejects. */
  advance(): Promise<void>;
  /** Where the stations are. */
  places: Locations;
  /** Keeps `model` up to date. */
  follower: Follower;
  /** The cursor of docs/decisions.md 7 in ms, a whole second. */
  asOf(now: number): number;
  /** Who waits for which mark's outcome. */
  waiters: Waiters;
  /** Checks and stores marks. */
  intake: Intake;
  producer: Producer;
  /** What `/metrics` shows. */
  metrics: Metrics;
}
