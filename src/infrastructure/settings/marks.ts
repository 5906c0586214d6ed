import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";
import { integer, million, setting, settingsOf } from "#src/infrastructure/settings/setting.ts";

/** The numbers of the rules of marks (docs/rules.md). */
export const marksSettings = settingsOf({
  statusLifetimeMs: setting(dayMs, integer(1000, 1e12))`
    lifetime of a status, an opinion and a price; \`stale_after_hours\` is this time in hours, rounded up`,
  deviceWindowMs: setting(600_000, integer(0, 1e12))`
    reporters first seen within this window count as one device`,
  disputeWindowMs: setting(hourMs, integer(1000, 1e12))`
    highest age of opinions that count in a dispute`,
  newcomerMs: setting(dayMs, integer(0, 1e12))`
    time after first seen in which a reporter counts as a newcomer`,
  opinionsMax: setting(500, integer(10, 10_000))`
    live opinions of a station that count, the newest`,
  priceLinePercent: setting(30, integer(0, million))`
    how many per cent a price may be from the median around it; one that is further away needs a second device`,
  priceNearM: setting(100_000, integer(0, 1e7))`
    radius: the median of a grade is that of the prices within this distance`,
  priceNearMin: setting(10, integer(1, million))`
    prices of a grade that there must be within PRICE_NEAR_M for a median`,
  priceAlikePercent: setting(5, integer(0, million))`
    per cent by which a second device's price may differ from one that it supports`,
  nearM: setting(500, integer(0, 100_000))`
    longest distance to the station of a geolocated mark, before accuracy is added`,
  accuracyCapM: setting(500, integer(0, 100_000))`
    highest number of metres that acc_m may add to NEAR_M`,
  accuracyMaxM: setting(1000, integer(0, 1e7))`
    highest acc_m of a geolocated mark`,
  speedMaxKmh: setting(200, integer(1, 100_000))`
    highest possible speed between two marks`,
  speedFreeM: setting(2000, integer(0, 1e7))`
    a movement up to this distance is always possible`,
  nearbyNoM: setting(500, integer(0, 1e6))`
    radius: a \`no\` needs confirmation if there are fresh marks within this distance`,
  nearbyFreshMs: setting(30 * minuteMs, integer(0, 1e12))`
    age up to which a mark within NEARBY_NO_M is fresh`,
  newcomerNoMs: setting(hourMs, integer(1000, 1e12))`
    how long a newcomer's \`no\` waits for others to confirm it`,
  cautionFreshMs: setting(2 * hourMs, integer(0, 1e12))`
    age of a served \`no\` up to which a newcomer's \`yes\`, \`low\` or \`queue\` against it needs a second device`,
  duplicateMs: setting(300_000, integer(0, 1e12))`
    time in which a repeat of the same opinion is a duplicate`,
  cooldownMs: setting(1200_000, integer(0, 1e12))`
    cooldown of one reporter at one station`,
  expressCooldownMs: setting(120_000, integer(0, 1e12))`
    cooldown of an express mark`,
  hourlyCap: setting(12, integer(1, million))`
    accepted marks of one reporter in an hour`,
  dailyCap: setting(60, integer(1, million))`
    accepted marks of one reporter in a day`,
  newReportersDaily: setting(500, integer(1, 100 * million))`
    new reporters of one partner in a day`,
  sharedNetworkDevices: setting(50, integer(1, million))`
    widget devices older than SHARED_NETWORK_MS that make a viewer's network a carrier's`,
  sharedNetworkMs: setting(7 * dayMs, integer(0, 1e12))`
    age of the devices that SHARED_NETWORK_DEVICES counts`,
  massNoLimit: setting(20, integer(1, million))`
    limit of a new key: stations that its marks may harmfully change in an hour (four times that in a day)`,
  establishedMs: setting(7 * dayMs, integer(0, 1e12))`
    time after first seen from which on a reporter's harmful marks are never held`,
  networkHarmLimit: setting(20, integer(0, million))`
    the same for the map's viewers of one network`,
  cityHarmPercent: setting(10, integer(0, 100))`
    of a city's stations with a status: how many per cent may be harmfully changed in an hour by reporters who are not established`,
  cityHarmMin: setting(20, integer(0, million))`
    the same as a number of stations, where that is more`,
  observedAheadMs: setting(300_000, integer(0, 1e12))`
    how far observed_at may be ahead of the server's clock`,
  externalIdDays: setting(30, integer(1, 3650))`
    days in which a mark with a known external_id is a duplicate; at most RETENTION_DAYS`,
});
