import { flag, integer, setting, settingsOf } from "#src/infrastructure/settings/setting.ts";

/** Amounts and periods: intake, workers, the change feed, dumps, caches, retention. */
export const workSettings = settingsOf({
  marksConcurrency: setting(2, integer(1, 64))`
    simultaneous transactions in one marks process`,
  chance: setting(true, flag)`
    whether snapshots writes how likely each station has fuel`,
  canary: setting(true, flag)`
    whether snapshots asks the web processes for the whole country, as a partner would, and compares`,
  plainBytes: setting(32 * 1024 * 1024, integer(0, 1e12))`
    bytes of stations, about 680 each, that a \`web\` or \`snapshots\` process keeps uncompressed: those read last`,
  askedSetsBytes: setting(64 * 1024 * 1024, integer(0, 1e12))`
    highest number of bytes for the filter sets that are kept ready, in Redis and in each web process`,
  cacheTtlS: setting(60, integer(0, 3600))`
    seconds for which a rectangle of a publishable key is cached, unless the partner has its own setting; 0: never`,
  cacheBytes: setting(64 * 1024 * 1024, integer(0, 1e12))`
    highest number of bytes for cached rectangles in Redis`,
  retentionDays: setting(400, integer(8, 3650))`
    days for which marks and usage are kept`,
  positionDays: setting(30, integer(7, 3650))`
    days for which positions, comments and hashes of viewers' networks stay with a mark`,
  runsDays: setting(400, integer(8, 3650))`
    days for which status runs are kept after their end`,
});
