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
    "port the web role listens on; 0 takes a free one",
  ),
  host: setting(
    "HOST",
    "0.0.0.0",
    shaped(/^[\w.:-]+$/, "an IP address or a host name of this machine"),
    "address the web role listens on",
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
    "secret that reporter identities are hashed with; required",
    true,
  ),
  trustedProxies: setting(
    "TRUSTED_PROXIES",
    [] as string[],
    addresses,
    "addresses or CIDRs whose X-Forwarded-For is believed",
  ),
  metricsToken: setting(
    "METRICS_TOKEN",
    "",
    shaped(/^[\x21-\x7e]+$/, "letters, digits and signs of ASCII, without blanks"),
    "bearer token that GET /metrics asks for; without one it answers direct callers of private networks only",
    true,
  ),
  logLevel: setting(
    "LOG_LEVEL",
    "info",
    oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    "the least that is logged: trace, debug, info, warn, error, fatal or silent",
  ),
  poolMax: setting("POOL_MAX", 10, integer(2, 500), "Postgres connections of one process"),
  acquireTimeoutMs: setting(
    "ACQUIRE_TIMEOUT_MS",
    1500,
    integer(50, minuteMs),
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
    integer(50, minuteMs),
    "lock_timeout and idle_in_transaction_session_timeout",
  ),
  redisTimeoutMs: setting(
    "REDIS_TIMEOUT_MS",
    500,
    integer(20, minuteMs),
    "longest single Redis command of the API",
  ),
  leaveMs: setting(
    "LEAVE_MS",
    0,
    integer(0, 300_000),
    "how long a stopping web process goes on with /readyz at 503, so that balancers send nothing more, before it closes its port",
  ),
  stopMs: setting("STOP_MS", 10_000, integer(100, minuteMs), "hard exit after this when stopping"),
  clockOffsetS: setting(
    "CLOCK_OFFSET_S",
    0,
    integer(-1e9, 1e9),
    "tests: shifts the clock of processes and SQL, seconds",
  ),
} as const;
