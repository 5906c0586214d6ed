import { minuteMs } from "#src/domain/units.ts";
import {
  addresses,
  connection,
  flag,
  hosts,
  integer,
  million,
  oneOf,
  postgresUrl,
  secret,
  setting,
  settingsOf,
  shaped,
  webAddress,
} from "#src/infrastructure/settings/setting.ts";

/** The basic settings of a process: servers, addresses, secrets, log and time-outs. */
export const processSettings = settingsOf({
  databaseUrl: secret("", postgresUrl)`
    Postgres connection URL; required; several hosts, separated by commas: whichever is the primary`,
  databaseDirectUrl: secret("", postgresUrl)`
    Postgres itself, if DATABASE_URL leads to a pooler in transaction mode; default DATABASE_URL`,
  redisUrl: secret("", connection(["redis", "rediss"], "redis://:password@host:6379"))`
    Redis connection URL; required`,
  redisSentinels: setting([] as string[], hosts)`
    Redis Sentinels as host:port, separated by commas; only host and port of REDIS_URL are then not used`,
  redisSentinelName: setting(
    "mymaster",
    shaped(/^[\w.-]+$/, "the name of a master, like mymaster"),
  )`
    name of the master that REDIS_SENTINELS are asked for`,
  redisSentinelPassword: secret("", shaped(/^\S+$/, "a password without spaces"))`
    password of REDIS_SENTINELS themselves, if they require one`,
  redisCluster: setting([] as string[], hosts)`
    some nodes of a Redis Cluster as host:port, separated by commas; only host and port of REDIS_URL are then not used`,
  redisPrefix: setting(
    "{fuelmark}",
    shaped(
      /^[\w.:-]*\{[\w.:-]+\}[\w.:-]*$/,
      "letters, digits and .:-_ with a hash tag, like {fuelmark}",
    ),
  )`
    prefix (with hash tag) of every Redis key`,
  port: setting(8080, integer(0, 65535))`
    port that the web role listens on; 0 selects a free port`,
  host: setting("0.0.0.0", shaped(/^[\w.:-]+$/, "an IP address or a host name of this machine"))`
    address that the web role listens on`,
  maxConnections: setting(10_000, integer(10, 1_000_000))`
    connections that a web process holds open at once; its limit of open files must be higher`,
  unreadBytes: setting(128 * million, integer(million, 1e12))`
    bytes of long answers that a web process keeps for callers who have not read them yet; beyond it the oldest end, and further long ones are refused`,
  baseUrl: setting("", webAddress)`
    public address of the service; default http://localhost:PORT`,
  problemBase: setting("", webAddress)`
    prefix of problem type URIs; default BASE_URL/problems`,
  reporterPepper: secret("", shaped(/^.{16,}$/s, "16 characters or more (openssl rand -hex 32)"))`
    secret key for the hashes of reporter identities; required`,
  trustedProxies: setting([] as string[], addresses)`
    addresses or CIDR blocks of proxies whose X-Forwarded-For is trusted; else all viewers behind a proxy count as one`,
  metricsToken: secret(
    "",
    shaped(/^[\x21-\x7e]+$/, "letters, digits and signs of ASCII, without spaces"),
  )`
    bearer token that GET /metrics requires; without a token it answers only direct callers from private networks`,
  logLevel: setting("info", oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"]))`
    lowest level that is logged: trace, debug, info, warn, error, fatal or silent`,
  otelExporterOtlpEndpoint: setting("", webAddress)`
    where traces are sent by OTLP over HTTP, like http://collector:4318; without it there are none. The standard's OTEL_* variables apply`,
  poolMax: setting(10, integer(2, 500))`
    Postgres connections of one process`,
  acquireTimeoutMs: setting(1500, integer(50, minuteMs))`
    longest wait for a Postgres connection from the pool; making one may take four times as long`,
  queryTimeoutMs: setting(10_000, integer(100, 600_000))`
    longest duration of one query of the API`,
  lockTimeoutMs: setting(2000, integer(50, minuteMs))`
    Postgres lock_timeout and idle_in_transaction_session_timeout`,
  redisTimeoutMs: setting(500, integer(20, minuteMs))`
    longest duration of one Redis command of the API`,
  leaveMs: setting(0, integer(0, 300_000))`
    time in which a stopping web process still serves but answers 503 at /readyz, before it closes its port`,
  stopMs: setting(10_000, integer(100, minuteMs))`
    longest time to stop; after it the process exits at once`,
  testNumbers: setting(false, flag)`
    for tests: also reads numbers that are no settings from the environment`,
});
