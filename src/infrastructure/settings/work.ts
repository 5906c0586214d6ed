import { minuteMs, hourMs } from "#src/domain/units.ts";
import { integer, setting } from "#src/infrastructure/settings/setting.ts";

/** How much at once and how often: intake, workers, the change feed, dumps, caches, what is kept. */
export const workSettings = {
  waitMs: setting(
    "WAIT_MS",
    3000,
    integer(0, minuteMs),
    "longest wait of a report for its outcome",
  ),
  batchMax: setting("BATCH_MAX", 256, integer(1, 5000), "marks in one intake transaction"),
  batchesInFlight: setting(
    "BATCHES_IN_FLIGHT",
    1,
    integer(1, 64),
    "intake transactions at once in one process",
  ),
  marksConcurrency: setting(
    "MARKS_CONCURRENCY",
    2,
    integer(1, 64),
    "transactions at once in one marks process",
  ),
  sweepMs: setting(
    "SWEEP_MS",
    2000,
    integer(50, 600_000),
    "period and minimum age of the look for unprocessed marks",
  ),
  pollMs: setting("POLL_MS", 1000, integer(20, minuteMs), "period of the change feed's poll"),
  slotMs: setting(
    "SLOT_MS",
    10_000,
    integer(100, 600_000),
    "period in which dumps are rebuilt when something changed",
  ),
  dumpMaxAgeMs: setting(
    "DUMP_MAX_AGE_MS",
    minuteMs,
    integer(1000, hourMs),
    "longest time between two dump versions",
  ),
  askedSets: setting(
    "ASKED_SETS",
    100,
    integer(0, 10_000),
    "filter sets of /stations/all, of those asked for in the last hour, that are kept ready",
  ),
  plainBytes: setting(
    "PLAIN_BYTES",
    32 * 1024 * 1024,
    integer(0, 1e12),
    "bytes of the stations' JSON and states, about 530 each, that a web process holds plain: those read last; the rest deflated",
  ),
  askedSetsBytes: setting(
    "ASKED_SETS_BYTES",
    64 * 1024 * 1024,
    integer(0, 1e12),
    "most bytes that these take, in Redis and in each web process",
  ),
  cacheTtlS: setting(
    "CACHE_TTL_S",
    60,
    integer(0, 3600),
    "seconds that a publishable key's rectangle is cached, unless its partner has a setting; 0 for never",
  ),
  cacheBytes: setting(
    "CACHE_BYTES",
    64 * 1024 * 1024,
    integer(0, 1e12),
    "most bytes of Redis that cached rectangles take",
  ),
  cacheBodyBytes: setting(
    "CACHE_BODY_BYTES",
    256 * 1024,
    integer(0, 1e9),
    "largest rectangle that is cached, bytes after gzip",
  ),
  keysRefreshMs: setting(
    "KEYS_REFRESH_MS",
    10_000,
    integer(100, 600_000),
    "period of the key store's refresh",
  ),
  usageFlushMs: setting(
    "USAGE_FLUSH_MS",
    minuteMs,
    integer(1000, 600_000),
    "period in which usage is moved from Redis to durable rows",
  ),
  retentionDays: setting(
    "RETENTION_DAYS",
    400,
    integer(8, 3650),
    "days that marks and usage are kept",
  ),
  partitionsAhead: setting(
    "PARTITIONS_AHEAD",
    7,
    integer(1, 60),
    "days of mark partitions made in advance",
  ),
} as const;
