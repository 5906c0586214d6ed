import { minuteMs, hourMs } from "#src/domain/units.ts";
import { flag, integer, setting, settingsOf } from "#src/infrastructure/settings/setting.ts";

/** Amounts and periods: intake, workers, the change feed, dumps, caches, retention. */
export const workSettings = settingsOf({
  waitMs: setting(3000, integer(0, minuteMs))`
    longest time that a report waits for its outcome`,
  reportsWaitMs: setting(10_000, integer(0, minuteMs))`
    longest time that \`POST /reports\` waits for outcomes if \`Prefer: wait=N\` asks for it`,
  batchMax: setting(256, integer(1, 5000))`
    marks in one intake transaction`,
  batchesInFlight: setting(1, integer(1, 64))`
    simultaneous intake transactions in one process`,
  marksConcurrency: setting(2, integer(1, 64))`
    simultaneous transactions in one marks process`,
  sweepMs: setting(2000, integer(50, 600_000))`
    period of the search for unprocessed marks, and the minimum age of the marks that it finds`,
  pollMs: setting(1000, integer(20, minuteMs))`
    period for polling the change feed`,
  slotMs: setting(10_000, integer(100, 600_000))`
    period for rebuilding dumps if something has changed; the same for all processes`,
  dumpMaxAgeMs: setting(minuteMs, integer(1000, hourMs))`
    longest time between two dump versions`,
  insightsMs: setting(minuteMs, integer(100, hourMs))`
    period for counting \`/insights/cities\` and \`/overview\`, and for the medians of prices; the same for all processes`,
  chance: setting(true, flag)`
    whether snapshots writes how likely each station has fuel`,
  canary: setting(true, flag)`
    whether snapshots asks the web processes for the whole country, as a partner would, and compares`,
  askedSets: setting(100, integer(0, 10_000))`
    filter sets of /stations/all that are kept ready besides those of one status or grade`,
  plainBytes: setting(32 * 1024 * 1024, integer(0, 1e12))`
    bytes of stations, about 680 each, that a \`web\` or \`snapshots\` process keeps uncompressed: those read last`,
  askedSetsBytes: setting(64 * 1024 * 1024, integer(0, 1e12))`
    highest number of bytes for the filter sets of ASKED_SETS, in Redis and in each web process`,
  cacheTtlS: setting(60, integer(0, 3600))`
    seconds for which a rectangle of a publishable key is cached, unless the partner has its own setting; 0: never`,
  cacheBytes: setting(64 * 1024 * 1024, integer(0, 1e12))`
    highest number of bytes for cached rectangles in Redis`,
  cacheBodyBytes: setting(512 * 1024, integer(0, 1e9))`
    size of the largest rectangle that is cached, in bytes as it is packed`,
  cacheFeedWaitMs: setting(1000, integer(1, minuteMs))`
    how long a request for a rectangle waits for a process that is behind; then it is answered without the cache`,
  // A revoked key must be refused everywhere within a minute.
  keysRefreshMs: setting(10_000, integer(100, 15_000))`
    period for refreshing the keys in memory`,
  usageFlushMs: setting(minuteMs, integer(1000, 600_000))`
    period for moving usage counts from Redis to Postgres; the same for all processes`,
  retentionDays: setting(400, integer(8, 3650))`
    days for which marks and usage are kept`,
  positionDays: setting(30, integer(7, 3650))`
    days for which positions, comments and hashes of viewers' networks stay with a mark`,
  runsDays: setting(400, integer(8, 3650))`
    days for which status runs are kept after their end`,
});
