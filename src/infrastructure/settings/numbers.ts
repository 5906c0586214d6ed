import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";

/**
 * Numbers that no operator has had a reason to change: part of the configuration, but no settings (decisions 22.8). With
 * `TEST_NUMBERS`, tests give others in the environment, by the same names as settings have there.
 */
export const numbers = {
  // Rules of marks (docs/rules.md).
  deviceWindowMs: 600_000,
  disputeWindowMs: hourMs,
  /** Time after first seen in which a reporter counts as a newcomer. */
  newcomerMs: dayMs,
  opinionsMax: 500,
  priceLinePercent: 30,
  priceNearM: 100_000,
  /** Prices of a grade that there must be within `priceNearM` for a median. */
  priceNearMin: 10,
  priceAlikePercent: 5,
  nearM: 500,
  /** Highest number of metres that `acc_m` may add to `nearM`. */
  accuracyCapM: 500,
  accuracyMaxM: 1000,
  speedMaxKmh: 200,
  /** A movement up to this distance is always possible. */
  speedFreeM: 2000,
  nearbyNoM: 500,
  nearbyFreshMs: 30 * minuteMs,
  newcomerNoMs: hourMs,
  /** Age of a served `no` up to which a newcomer's fuel against it needs a second device. */
  cautionFreshMs: 2 * hourMs,
  duplicateMs: 300_000,
  expressCooldownMs: 120_000,
  /** Widget devices older than `sharedNetworkMs` that make a viewer's network a carrier's. */
  sharedNetworkDevices: 50,
  sharedNetworkMs: 7 * dayMs,
  establishedMs: 7 * dayMs,
  /** How far `observed_at` may be ahead of the service's time. */
  observedAheadMs: 300_000,
  /** Days in which a mark with a known `external_id` is a duplicate; at most `retentionDays`. */
  externalIdDays: 30,
  cityHarmPercent: 10,
  cityHarmMin: 20,
  // What drivers may ask and be told (decisions 15.27, 15.28, 15.47).
  alertsPerDevice: 5,
  alertsPerNetwork: 100,
  alertsPerDay: 3,
  alertGapMs: 20 * minuteMs,
  alertDays: 14,
  suggestionsPerDevice: 5,
  suggestionsPerNetwork: 50,
  // Calls of pages, for one viewer address in one process.
  pageCallsPerMinute: 1200,
  // Streams of changes (decisions 7).
  streamEveryMs: 200,
  streamBacklogBytes: 4_000_000,
  /** Readers of a stream that ended come back after half to one and a half of it. */
  streamRetryMs: 3000,
  // Webhooks of partners (decisions 20), and drivers' notifications.
  /** The first pause; each further one is four times as long, four hours at most. */
  webhookPauseMs: 5000,
  webhookStationsGapMs: 5000,
  webhookTimeoutMs: 10_000,
  // Alarms to the operator.
  /** Also the first pause after a message that could not be sent. */
  alarmPollMs: 10_000,
  alarmEmailGapMs: 45_000,
  // Intake, the change feed, dumps, caches.
  reportsWaitMs: 10_000,
  batchMax: 256,
  batchesInFlight: 1,
  /** Period of the search for unprocessed marks, and the minimum age of those that it finds. */
  sweepMs: 2000,
  pollMs: 1000,
  /** Period for rebuilding dumps if something has changed; the same for all processes. */
  slotMs: 10_000,
  dumpMaxAgeMs: minuteMs,
  /** Period for insights, the overview and the medians of prices; the same for all processes. */
  insightsMs: minuteMs,
  /** Filter sets of /stations/all that are kept ready besides those of one status or grade. */
  askedSets: 100,
  cacheBodyBytes: 512 * 1024,
  cacheFeedWaitMs: 1000,
  /** A revoked key must be refused everywhere within a minute. */
  keysRefreshMs: 10_000,
  /** Period for moving usage counts from Redis to Postgres; the same for all processes. */
  usageFlushMs: minuteMs,
  waitMs: 3000,
  // For tests: shifts the clock of processes and SQL by this many seconds.
  clockOffsetS: 0,
} as const satisfies Record<string, number>;
