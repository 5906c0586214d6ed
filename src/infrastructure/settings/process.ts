import { minuteMs } from "#src/domain/units.ts";
import {
  addresses,
  connection,
  integer,
  oneOf,
  setting,
  shaped,
  webAddress,
} from "#src/infrastructure/settings/setting.ts";

/** What a process needs to run: its servers, addresses, secrets, log and patience. */
export const processSettings = {
  databaseUrl: setting(
    "DATABASE_URL",
    "",
    connection(["postgres", "postgresql"], "postgres://user:password@host:5432/database"),
    "Postgres connection URL; required",
    true,
  ),
  redisUrl: setting(
    "REDIS_URL",
    "",
    connection(["redis", "rediss"], "redis://:password@host:6379"),
    "Redis connection URL; required",
    true,
  ),
  redisPrefix: setting(
    "REDIS_PREFIX",
    "{fuelmark}",
    shaped(
      /^[\w.:-]*\{[\w.:-]+\}[\w.:-]*$/,
      "letters, digits and .:-_ with a hash tag, like {fuelmark}",
    ),
    "prefix (with hash tag) of every Redis key",
  ),
  port: setting(
    "PORT",
    8080,
    integer(0, 65535),
    "port that the web role listens on; 0 selects a free port",
  ),
  host: setting(
    "HOST",
    "0.0.0.0",
    shaped(/^[\w.:-]+$/, "an IP address or a host name of this machine"),
    "address that the web role listens on",
  ),
  maxConnections: setting(
    "MAX_CONNECTIONS",
    10_000,
    integer(10, 1_000_000),
    "connections that a web process holds open at once; it closes further ones, so its limit of open files must be higher",
  ),
  baseUrl: setting(
    "BASE_URL",
    "",
    webAddress,
    "public address of the service; default http://localhost:PORT",
  ),
  problemBase: setting(
    "PROBLEM_BASE",
    "",
    webAddress,
    "prefix of problem type URIs; default BASE_URL/problems",
  ),
  reporterPepper: setting(
    "REPORTER_PEPPER",
    "",
    shaped(/^.{16,}$/s, "16 characters or more (openssl rand -hex 32)"),
    "secret key for the hashes of reporter identities; required",
    true,
  ),
  trustedProxies: setting(
    "TRUSTED_PROXIES",
    [] as string[],
    addresses,
    "addresses or CIDR blocks of proxies whose X-Forwarded-For is trusted; without it all viewers behind a proxy count as one",
  ),
  metricsToken: setting(
    "METRICS_TOKEN",
    "",
    shaped(/^[\x21-\x7e]+$/, "letters, digits and signs of ASCII, without spaces"),
    "bearer token that GET /metrics requires; without a token it answers only direct callers from private networks",
    true,
  ),
  logLevel: setting(
    "LOG_LEVEL",
    "info",
    oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    "lowest level that is logged: trace, debug, info, warn, error, fatal or silent",
  ),
  poolMax: setting("POOL_MAX", 10, integer(2, 500), "Postgres connections of one process"),
  acquireTimeoutMs: setting(
    "ACQUIRE_TIMEOUT_MS",
    1500,
    integer(50, minuteMs),
    "longest wait for a Postgres connection from the pool",
  ),
  queryTimeoutMs: setting(
    "QUERY_TIMEOUT_MS",
    10_000,
    integer(100, 600_000),
    "longest duration of one query of the API",
  ),
  lockTimeoutMs: setting(
    "LOCK_TIMEOUT_MS",
    2000,
    integer(50, minuteMs),
    "Postgres lock_timeout and idle_in_transaction_session_timeout",
  ),
  redisTimeoutMs: setting(
    "REDIS_TIMEOUT_MS",
    500,
    integer(20, minuteMs),
    "longest duration of one Redis command of the API",
  ),
  leaveMs: setting(
    "LEAVE_MS",
    0,
    integer(0, 300_000),
    "time in which a stopping web process still serves requests but answers 503 at /readyz, so that load balancers notice it, before it closes its port",
  ),
  stopMs: setting(
    "STOP_MS",
    10_000,
    integer(100, minuteMs),
    "longest time to stop; after it the process exits at once",
  ),
  clockOffsetS: setting(
    "CLOCK_OFFSET_S",
    0,
    integer(-1e9, 1e9),
    "for tests: shifts the clock of processes and SQL by this many seconds",
  ),
} as const;
