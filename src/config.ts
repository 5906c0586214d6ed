import { parseBasemap } from "#src/basemap.ts";
import { parseCenter } from "#src/center.ts";

/**
 * Every number and switch an operator might want to change, with its default and meaning.
 * `npm run operator -- config` prints this list; nothing else reads the environment.
 */
interface Setting<T> {
  env: string;
  meaning: string;
  fallback: T;
  parse: (text: string) => T;
  secret?: boolean;
}

const bad = (expected: string) => new Error(expected);

const integer =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < min || value > max)
      throw bad(`an integer ${min} to ${max}`);
    return value;
  };

const text = (value: string): string => value;

const flag = (value: string): boolean => {
  if (value === "true" || value === "1") return true;
  if (value === "false" || value === "0") return false;
  throw bad("true or false");
};

const center = (value: string): string => {
  if (parseCenter(value) === null) throw bad("lat,lon,zoom: -90 to 90, -180 to 180, 0 to 22");
  return value;
};

const list = (value: string): string[] =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

const setting = <T>(
  env: string,
  fallback: T,
  parse: (text: string) => T,
  meaning: string,
  secret = false,
): Setting<T> => ({
  env,
  fallback,
  parse,
  meaning,
  secret,
});

const million = 1_000_000;

export const settings = {
  databaseUrl: setting("DATABASE_URL", "", text, "Postgres connection URL; required", true),
  redisUrl: setting("REDIS_URL", "", text, "Redis connection URL; required", true),
  redisPrefix: setting(
    "REDIS_PREFIX",
    "{fuelmark}",
    text,
    "prefix (with hash tag) of every Redis key",
  ),
  port: setting(
    "PORT",
    8080,
    integer(0, 65535),
    "port the web role listens on; 0 takes a free one",
  ),
  host: setting("HOST", "0.0.0.0", text, "address the web role listens on"),
  baseUrl: setting(
    "BASE_URL",
    "",
    text,
    "public address of the service; default http://localhost:PORT",
  ),
  problemBase: setting(
    "PROBLEM_BASE",
    "",
    text,
    "prefix of problem type URIs; default BASE_URL/problems",
  ),
  reporterPepper: setting(
    "REPORTER_PEPPER",
    "",
    text,
    "secret that reporter identities are hashed with; required",
    true,
  ),
  trustedProxies: setting(
    "TRUSTED_PROXIES",
    [] as string[],
    list,
    "addresses or CIDRs whose X-Forwarded-For is believed",
  ),
  metricsToken: setting(
    "METRICS_TOKEN",
    "",
    text,
    "bearer token that GET /metrics asks for; without one it answers direct callers of private networks only",
    true,
  ),
  logLevel: setting("LOG_LEVEL", "info", text, "trace, debug, info, warn, error or silent"),
  clockOffsetS: setting(
    "CLOCK_OFFSET_S",
    0,
    integer(-1e9, 1e9),
    "tests: shifts the clock of processes and SQL, seconds",
  ),
  poolMax: setting("POOL_MAX", 10, integer(2, 500), "Postgres connections of one process"),
  acquireTimeoutMs: setting(
    "ACQUIRE_TIMEOUT_MS",
    1500,
    integer(50, 60_000),
    "longest wait for a Postgres connection",
  ),
  queryTimeoutMs: setting(
    "QUERY_TIMEOUT_MS",
    10_000,
    integer(100, 600_000),
    "longest single query of the API",
  ),
  lockTimeoutMs: setting(
    "LOCK_TIMEOUT_MS",
    2000,
    integer(50, 60_000),
    "lock_timeout and idle_in_transaction_session_timeout",
  ),
  redisTimeoutMs: setting(
    "REDIS_TIMEOUT_MS",
    500,
    integer(20, 60_000),
    "longest single Redis command of the API",
  ),

  defaultRpm: setting(
    "DEFAULT_RPM",
    120,
    integer(1, 100_000),
    "requests per minute of a new partner",
  ),
  defaultDaily: setting(
    "DEFAULT_DAILY",
    50_000,
    integer(1, 100 * million),
    "daily quota of a new partner",
  ),

  statusLifetimeMs: setting(
    "STATUS_LIFETIME_MS",
    24 * 3600_000,
    integer(1000, 1e12),
    "life of a status, an opinion and a price",
  ),
  deviceWindowMs: setting(
    "DEVICE_WINDOW_MS",
    600_000,
    integer(0, 1e12),
    "reporters first seen within this window count as one device",
  ),
  disputeWindowMs: setting(
    "DISPUTE_WINDOW_MS",
    3600_000,
    integer(1000, 1e12),
    "age of opinions that take part in a dispute",
  ),
  newcomerMs: setting(
    "NEWCOMER_MS",
    24 * 3600_000,
    integer(0, 1e12),
    "time after first seen in which a reporter is treated with caution",
  ),
  nearM: setting(
    "NEAR_M",
    500,
    integer(0, 100_000),
    "distance to the station of a geolocated mark, before accuracy",
  ),
  accuracyCapM: setting(
    "ACCURACY_CAP_M",
    500,
    integer(0, 100_000),
    "most metres that acc_m may add to NEAR_M",
  ),
  accuracyMaxM: setting(
    "ACCURACY_MAX_M",
    1000,
    integer(0, 1e7),
    "worst acc_m of a geolocated mark",
  ),
  speedMaxKmh: setting(
    "SPEED_MAX_KMH",
    200,
    integer(1, 100_000),
    "fastest possible movement between two marks",
  ),
  speedFreeM: setting(
    "SPEED_FREE_M",
    2000,
    integer(0, 1e7),
    "movement up to this is always possible",
  ),
  nearbyNoM: setting(
    "NEARBY_NO_M",
    5000,
    integer(0, 1e6),
    "radius in which fresh marks make a `no` need confirmation",
  ),
  duplicateMs: setting(
    "DUPLICATE_MS",
    300_000,
    integer(0, 1e12),
    "window in which the same opinion again is a duplicate",
  ),
  cooldownMs: setting(
    "COOLDOWN_MS",
    1200_000,
    integer(0, 1e12),
    "cooldown per reporter and station",
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
  newDevicesDaily: setting(
    "NEW_DEVICES_DAILY",
    20,
    integer(1, 100 * million),
    "new widget devices of one viewer address in a day",
  ),
  massNoWindowMs: setting(
    "MASS_NO_WINDOW_MS",
    3600_000,
    integer(1000, 1e12),
    "window of the mass-`no` review",
  ),
  massNoLimit: setting(
    "MASS_NO_LIMIT",
    20,
    integer(1, million),
    "of a new key: newcomers' `no` marks in the window before further ones are held",
  ),
  observedAheadMs: setting(
    "OBSERVED_AHEAD_MS",
    300_000,
    integer(0, 1e12),
    "how far observed_at may be ahead of the server",
  ),
  externalIdDays: setting(
    "EXTERNAL_ID_DAYS",
    30,
    integer(1, 3650),
    "days in which a repeated external_id is a duplicate",
  ),

  waitMs: setting("WAIT_MS", 3000, integer(0, 60_000), "longest wait of a report for its outcome"),
  batchMax: setting("BATCH_MAX", 256, integer(1, 5000), "marks in one intake transaction"),
  batchesInFlight: setting(
    "BATCHES_IN_FLIGHT",
    1,
    integer(1, 64),
    "intake transactions at once in one process",
  ),
  marksConcurrency: setting(
    "MARKS_CONCURRENCY",
    2,
    integer(1, 64),
    "transactions at once in one marks process",
  ),
  sweepMs: setting(
    "SWEEP_MS",
    2000,
    integer(50, 600_000),
    "period and minimum age of the look for unprocessed marks",
  ),
  pollMs: setting("POLL_MS", 1000, integer(20, 60_000), "period of the change feed's poll"),
  slotMs: setting(
    "SLOT_MS",
    10_000,
    integer(100, 600_000),
    "period in which dumps are rebuilt when something changed",
  ),
  dumpMaxAgeMs: setting(
    "DUMP_MAX_AGE_MS",
    60_000,
    integer(1000, 3600_000),
    "longest time between two dump versions",
  ),
  askedSets: setting(
    "ASKED_SETS",
    100,
    integer(0, 10_000),
    "filter sets of /stations/all, of those asked for in the last hour, that are kept ready",
  ),
  plainBytes: setting(
    "PLAIN_BYTES",
    32 * 1024 * 1024,
    integer(0, 1e12),
    "bytes of the stations' JSON, about 450 each, that a web process holds plain: those read last; the rest deflated",
  ),
  askedSetsBytes: setting(
    "ASKED_SETS_BYTES",
    64 * 1024 * 1024,
    integer(0, 1e12),
    "most bytes that these take, in Redis and in each web process",
  ),
  cacheTtlS: setting(
    "CACHE_TTL_S",
    60,
    integer(0, 3600),
    "seconds that a publishable key's rectangle is cached, unless its partner has a setting; 0 for never",
  ),
  cacheBytes: setting(
    "CACHE_BYTES",
    64 * 1024 * 1024,
    integer(0, 1e12),
    "most bytes of Redis that cached rectangles take",
  ),
  cacheBodyBytes: setting(
    "CACHE_BODY_BYTES",
    256 * 1024,
    integer(0, 1e9),
    "largest rectangle that is cached, bytes after gzip",
  ),
  keysRefreshMs: setting(
    "KEYS_REFRESH_MS",
    10_000,
    integer(100, 600_000),
    "period of the key store's refresh",
  ),
  sessionLifeMs: setting(
    "SESSION_LIFE_MS",
    12 * 3600_000,
    integer(1000, 30 * 24 * 3600_000),
    "longest session of the dashboard and the console",
  ),
  signInsPerMinute: setting(
    "SIGN_INS_PER_MINUTE",
    10,
    integer(1, 100_000),
    "attempts to sign in, of one viewer address in a minute and process",
  ),
  pageCallsPerMinute: setting(
    "PAGE_CALLS_PER_MINUTE",
    1200,
    integer(1, 1_000_000),
    "calls of dashboard and console, each, of one viewer address in a minute and process",
  ),
  usageFlushMs: setting(
    "USAGE_FLUSH_MS",
    60_000,
    integer(1000, 600_000),
    "period in which usage is moved from Redis to durable rows",
  ),
  retentionDays: setting(
    "RETENTION_DAYS",
    400,
    integer(8, 3650),
    "days that marks and usage are kept",
  ),
  partitionsAhead: setting(
    "PARTITIONS_AHEAD",
    7,
    integer(1, 60),
    "days of mark partitions made in advance",
  ),
  consumerKey: setting(
    "CONSUMER_KEY",
    "",
    text,
    "publishable key of the map at /; default: one that the release role issues by itself",
  ),
  widgetCenter: setting(
    "WIDGET_CENTER",
    "",
    center,
    "where the map opens by itself, `lat,lon,zoom`; default: the largest city, without cities the stations",
  ),
  basemap: setting(
    "BASEMAP",
    "bundled",
    parseBasemap,
    "base map: `bundled`, the path of a .pmtiles file that is served from here, or the http(s) address of a .pmtiles file, a style or raster tiles ({z}/{x}/{y})",
  ),
  basemapAttribution: setting(
    "BASEMAP_ATTRIBUTION",
    "",
    text,
    "credit that the operator's own base map demands, shown as text",
  ),
  stopMs: setting("STOP_MS", 10_000, integer(100, 60_000), "hard exit after this when stopping"),
  demoTrickle: setting(
    "DEMO_TRICKLE",
    true,
    flag,
    "synthetic marks while demo data is shown (npm start)",
  ),
} as const satisfies Record<string, Setting<never> | Setting<unknown>>;

type Values = { -readonly [K in keyof typeof settings]: (typeof settings)[K]["fallback"] };
type Widen<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T;
export type Config = { readonly [K in keyof Values]: Widen<Values[K]> };

/** Reads the settings from `env`. Throws one Error that names every bad value and what it should be. */
export function loadConfig(env: Record<string, string | undefined> = process.env): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(settings)) {
    const given = env[one.env];
    try {
      values[name] = given === undefined || given === "" ? one.fallback : one.parse(given);
    } catch (error) {
      faults.push(`${one.env} must be ${(error as Error).message}`);
    }
  }
  if (faults.length > 0) throw new Error(`bad settings: ${faults.join("; ")}`);
  const config = values as { baseUrl: string; problemBase: string; port: number };
  config.baseUrl = (config.baseUrl || `http://localhost:${config.port}`).replace(/\/+$/, "");
  config.problemBase = (config.problemBase || `${config.baseUrl}/problems`).replace(/\/+$/, "");
  return values as unknown as Config;
}

/** The settings without which a role must not start, as one sentence; null when all are there. */
export function missingSettings(config: Config): string | null {
  const missing = (["databaseUrl", "redisUrl", "reporterPepper"] as const).filter(
    (name) => config[name] === "",
  );
  if (missing.length === 0) return null;
  return `set ${missing.map((name) => settings[name].env).join(", ")} (npm start sets them by itself for a trial)`;
}
