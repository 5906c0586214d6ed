import { integer, setting, settingsOf } from "#src/infrastructure/settings/setting.ts";

/** Streams of changes (decisions 7). */
export const streamSettings = settingsOf({
  streamsPerKey: setting(10, integer(1, 100_000))`
    streams of changes that one key may hold open in one web process`,
  streamsMax: setting(2000, integer(1, 100_000))`
    streams of changes that a web process holds open at once; must be well below MAX_CONNECTIONS`,
  streamHeartbeatMs: setting(15_000, integer(50, 30_000))`
    period of the heartbeats of a stream; shorter than what any proxy on the way allows between two reads`,
});
