import { parseBasemap } from "#src/infrastructure/map-settings.ts";
import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";
import { isKeyText } from "#src/keys/key-text.ts";
import {
  center,
  flag,
  integer,
  million,
  setting,
  settingsOf,
  text,
} from "#src/infrastructure/settings/setting.ts";

const publishableKey = (value: string): string => {
  if (!value.startsWith("pk_live_") || !isKeyText(value))
    throw new Error("a complete publishable key (pk_live_…)");
  return value;
};

/** Limits and sessions of callers, the map of viewers, the demo. */
export const callerSettings = settingsOf({
  defaultRpm: setting(120, integer(1, 100_000))`
    requests per minute of a new partner`,
  defaultDaily: setting(50_000, integer(1, 100 * million))`
    daily quota of a new partner`,
  sessionLifeMs: setting(12 * hourMs, integer(1000, 30 * dayMs))`
    longest duration of a session of the dashboard or the console, in use or not`,
  consoleIdleMs: setting(2 * hourMs, integer(2 * minuteMs, 30 * dayMs))`
    a session of the console ends when nobody has used it for this long, to the minute`,
  pagesPerMinute: setting(600, integer(1, 1_000_000))`
    pages per minute, for one viewer address (of IPv6 its network) in one process; a file counts as a tenth, land that is cut as a fifth. Carriers put many phones behind one address`,
  signInsPerMinute: setting(10, integer(1, 100_000))`
    attempts to sign in per minute, for one viewer address in one process`,
  consumerKey: setting("", publishableKey)`
    publishable key of the map at /; default: a key that the release role issues`,
  widgetCenter: setting("", center)`
    where the map opens if its address does not set it, \`lat,lon,zoom\`; default: the largest city, or all stations if there are no cities`,
  basemap: setting("bundled", parseBasemap)`
    base map: \`bundled\` (without streets), \`openfreemap\` (viewers' browsers then ask tiles.openfreemap.org), the path of a .pmtiles file that the web role serves, or the http(s) address of a .pmtiles file, a style or raster tiles ({z}/{x}/{y})`,
  basemapAttribution: setting("", text)`
    credit that the operator's own base map requires, shown as text`,
  demoStations: setting(10_000, integer(100, 10_000))`
    stations of the demo country that an empty database is filled with (npm start)`,
  demoTrickle: setting(true, flag)`
    sends synthetic marks while demo data is shown (npm start)`,
});
