import type { Health } from "#api/health.ts";
import type { Intake } from "#api/intake/intake.ts";
import type { Metrics } from "#api/metrics.ts";
import type { PackedLists } from "#api/packed-lists.ts";
import type { Rectangles } from "#api/rectangles.ts";
import type { CityStore } from "#snapshots/cities.ts";
import type { LatestDump } from "#snapshots/latest-dump.ts";
import type { ReadModel } from "#snapshots/model.ts";
import type { Places } from "#snapshots/places.ts";
import type { Clock } from "#src/clock.ts";
import type { Config } from "#src/config.ts";
import type { Db } from "#src/db.ts";
import type { Follower } from "#src/follower.ts";
import type { KeyStore } from "#src/key-store.ts";
import type { Log } from "#src/log.ts";
import type { Meter } from "#src/meter.ts";
import type { Producer } from "#src/queues.ts";
import type { Redis } from "#src/redis.ts";
import type { UsedToday } from "#src/usage/used-today.ts";
import type { Waiters } from "#src/waiters.ts";

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
  lists: PackedLists;
  /** Answers of rectangles that all processes share. */
  rectangles: Rectangles;
  /** Makes every process's cached rectangles from before what this one has applied unreachable. Never rejects. */
  raise(): Promise<void>;
  /** Where the stations are. */
  places: Places;
  /** Keeps `model` up to date. */
  follower: Follower;
  /** The cursor of decisions.md 7 in ms, a whole second. */
  asOf(now: number): number;
  /** Who waits for which mark's outcome. */
  waiters: Waiters;
  /** Checks and stores marks. */
  intake: Intake;
  producer: Producer;
  /** What `/metrics` shows. */
  metrics: Metrics;
}
