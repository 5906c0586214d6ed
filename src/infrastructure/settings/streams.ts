import { integer, million, setting, settingsOf } from "#src/infrastructure/settings/setting.ts";

/** Streams of changes (decisions 7). */
export const streamSettings = settingsOf({
  streamsPerKey: setting(10, integer(1, 100_000))`
    streams of changes that one key may hold open in one web process`,
  streamsMax: setting(2000, integer(1, 100_000))`
    streams of changes that a web process holds open at once; must be well below MAX_CONNECTIONS`,
  streamHeartbeatMs: setting(15_000, integer(50, 30_000))`
    period of the heartbeats of a stream; shorter than what any proxy on the way allows between two reads`,
  streamEveryMs: setting(200, integer(0, 10_000))`
    shortest time between two events of a stream; changes in between come together in the next event`,
  streamBacklogBytes: setting(4 * million, integer(10_000, 1000 * million))`
    a stream whose reader has left more than this many bytes unread is cut`,
  streamRetryMs: setting(3000, integer(10, 600_000))`
    time after which readers of a stream that ended come back, half to one and a half of it`,
});
