import { dayMs } from "#src/domain/units.ts";
import { integer, million, setting, settingsOf } from "#src/infrastructure/settings/setting.ts";

/** The numbers of the rules of marks (docs/rules.md). */
export const marksSettings = settingsOf({
  statusLifetimeMs: setting(dayMs, integer(1000, 1e12))`
    lifetime of a status, an opinion and a price; \`stale_after_hours\` is this time in hours, rounded up`,
  cooldownMs: setting(1200_000, integer(0, 1e12))`
    cooldown of one reporter at one station`,
  hourlyCap: setting(12, integer(1, million))`
    accepted marks of one reporter in an hour`,
  dailyCap: setting(60, integer(1, million))`
    accepted marks of one reporter in a day`,
  newReportersDaily: setting(500, integer(1, 100 * million))`
    new reporters of one partner in a day`,
  massNoLimit: setting(20, integer(1, million))`
    limit of a new key: stations that its marks may harmfully change in an hour (four times that in a day)`,
  networkHarmLimit: setting(20, integer(0, million))`
    the same for the map's viewers of one network`,
});
