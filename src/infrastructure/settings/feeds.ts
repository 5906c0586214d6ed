import { hourMs, minuteMs } from "#src/domain/units.ts";
import {
  addresses,
  flag,
  integer,
  setting,
  settingsOf,
  shaped,
} from "#src/infrastructure/settings/setting.ts";

/** Feeds: files of sources that the role `imports` fetches by itself (decisions 14.35). */
export const feedSettings = settingsOf({
  feedsFolder: setting("", shaped(/^(\/|[A-Za-z]:[/\\])/, "an absolute path"))`
    folder below which feeds may read files; by default they only fetch from addresses`,
  feedHttp: setting(false, flag)`
    whether feeds may use http:// besides https://`,
  feedNetworks: setting([] as string[], addresses)`
    private addresses and CIDR blocks that feeds may be fetched from, separated by commas; default: none`,
  feedBytes: setting(1024 * 1024 * 1024, integer(1000, 1e12))`
    size of the largest file of a feed; the temporary folder needs room for it`,
  feedTimeoutMs: setting(10 * minuteMs, integer(100, 6 * hourMs))`
    longest time for fetching one file of a feed`,
  feedSilenceMs: setting(30_000, integer(50, hourMs))`
    time in which a server has to answer, and in each of which a file of a feed has to come with 1,000 bytes a second`,
});
