import { hourMs, dayMs } from "#src/domain/units.ts";
import { integer, million, setting } from "#src/infrastructure/settings/setting.ts";

/** The numbers of the rules of marks (docs/rules.md). */
export const marksSettings = {
  statusLifetimeMs: setting(
    "STATUS_LIFETIME_MS",
    dayMs,
    integer(1000, 1e12),
    "lifetime of a status, an opinion and a price; `stale_after_hours` is this time in hours, rounded up",
  ),
  deviceWindowMs: setting(
    "DEVICE_WINDOW_MS",
    600_000,
    integer(0, 1e12),
    "reporters first seen within this window count as one device",
  ),
  disputeWindowMs: setting(
    "DISPUTE_WINDOW_MS",
    hourMs,
    integer(1000, 1e12),
    "highest age of opinions that count in a dispute",
  ),
  newcomerMs: setting(
    "NEWCOMER_MS",
    dayMs,
    integer(0, 1e12),
    "time after first seen in which a reporter counts as a newcomer",
  ),
  opinionsMax: setting(
    "OPINIONS_MAX",
    500,
    integer(10, 10_000),
    "live opinions of a station that count, the newest",
  ),
  nearM: setting(
    "NEAR_M",
    500,
    integer(0, 100_000),
    "longest distance to the station of a geolocated mark, before accuracy is added",
  ),
  accuracyCapM: setting(
    "ACCURACY_CAP_M",
    500,
    integer(0, 100_000),
    "highest number of metres that acc_m may add to NEAR_M",
  ),
  accuracyMaxM: setting(
    "ACCURACY_MAX_M",
    1000,
    integer(0, 1e7),
    "highest acc_m of a geolocated mark",
  ),
  speedMaxKmh: setting(
    "SPEED_MAX_KMH",
    200,
    integer(1, 100_000),
    "highest possible speed between two marks",
  ),
  speedFreeM: setting(
    "SPEED_FREE_M",
    2000,
    integer(0, 1e7),
    "a movement up to this distance is always possible",
  ),
  nearbyNoM: setting(
    "NEARBY_NO_M",
    500,
    integer(0, 1e6),
    "radius: a `no` needs confirmation if there are fresh marks within this distance",
  ),
  nearbyFreshMs: setting(
    "NEARBY_FRESH_MS",
    2 * hourMs,
    integer(0, 1e12),
    "age up to which a mark within NEARBY_NO_M is fresh",
  ),
  cautionFreshMs: setting(
    "CAUTION_FRESH_MS",
    2 * hourMs,
    integer(0, 1e12),
    "age of a served `no` up to which a newcomer's `yes`, `low` or `queue` against it needs a second device",
  ),
  duplicateMs: setting(
    "DUPLICATE_MS",
    300_000,
    integer(0, 1e12),
    "time in which a repeat of the same opinion is a duplicate",
  ),
  cooldownMs: setting(
    "COOLDOWN_MS",
    1200_000,
    integer(0, 1e12),
    "cooldown of one reporter at one station",
  ),
  expressCooldownMs: setting(
    "EXPRESS_COOLDOWN_MS",
    120_000,
    integer(0, 1e12),
    "cooldown of an express mark",
  ),
  hourlyCap: setting(
    "HOURLY_CAP",
    12,
    integer(1, million),
    "accepted marks of one reporter in an hour (newcomers: half)",
  ),
  dailyCap: setting(
    "DAILY_CAP",
    60,
    integer(1, million),
    "accepted marks of one reporter in a day (newcomers: half)",
  ),
  newReportersDaily: setting(
    "NEW_REPORTERS_DAILY",
    500,
    integer(1, 100 * million),
    "new reporters of one partner in a day",
  ),
  sharedNetworkDevices: setting(
    "SHARED_NETWORK_DEVICES",
    50,
    integer(1, million),
    "widget devices older than SHARED_NETWORK_MS that make a viewer's network one that many people share (a carrier's)",
  ),
  sharedNetworkMs: setting(
    "SHARED_NETWORK_MS",
    7 * dayMs,
    integer(0, 1e12),
    "age of the devices that SHARED_NETWORK_DEVICES counts",
  ),
  massNoWindowMs: setting(
    "MASS_NO_WINDOW_MS",
    hourMs,
    integer(1000, 1e12),
    "time window of the mass-`no` review",
  ),
  massNoLimit: setting(
    "MASS_NO_LIMIT",
    20,
    integer(1, million),
    "limit of a new key: `no` marks of newcomers in the window before further ones are held",
  ),
  observedAheadMs: setting(
    "OBSERVED_AHEAD_MS",
    300_000,
    integer(0, 1e12),
    "how far observed_at may be ahead of the server's clock",
  ),
  externalIdDays: setting(
    "EXTERNAL_ID_DAYS",
    30,
    integer(1, 3650),
    "days in which a mark with a known external_id is a duplicate",
  ),
} as const;
