import { hash } from "node:crypto";
import { type Cluster, type Command, Redis, type RedisOptions, ReplyError } from "ioredis";
import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { isNetworkFault } from "#src/infrastructure/faults.ts";
import { ClusterConnection } from "#src/infrastructure/redis-cluster.ts";
import {
  createOutage,
  type OutageLog,
  quietly,
  refusedPauseMs,
  typedFault,
} from "#src/infrastructure/redis-outage.ts";

export type { Redis };

/**
 * A connection for commands that a request waits for: fails at once while Redis is away and after
 * `redisTimeoutMs` while it is frozen.
 */
export const createRedis = (config: Config, log: Log): Redis =>
  config.redisCluster.length > 0
    ? createCluster(config, log, "request")
    : new Connection(log, config.redisUrl, {
        ...sentinelsOf(config),
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        commandTimeout: config.redisTimeoutMs,
        connectTimeout,
      });

/** A connection for a worker's blocking reads: waits for Redis for ever and never times out. */
export const createWorkerRedis = (config: Config, log: Log): Redis =>
  config.redisCluster.length > 0
    ? createCluster(config, log, "worker")
    : new Connection(log, config.redisUrl, { ...sentinelsOf(config), maxRetriesPerRequest: null });

/**
 * A connection to the master. Gives each fault of ioredis a class, since most have neither an exported class nor a
 * code: an answer of Redis is a `ReplyError`, except that of a server that cannot serve; a bug is a `TypeError`; any
 * other rejection is a lost connection.
 */
class Connection extends Redis {
  readonly #log: OutageLog;

  /** `url`: null if the options name the server. */
  constructor(log: OutageLog, url: string | null, options: RedisOptions) {
    const outage = createOutage(log);
    const all = { ...options, ...outage.options };
    super(...((url === null ? [all] : [url, all]) as [never]));
    this.#log = log;
    outage.watch(this);
  }

  override sendCommand(command: Command, ...more: unknown[]): unknown {
    const { reject } = command;
    command.reject = (error) => {
      const typed = typedFault(error);
      // ioredis itself then sends a script that Redis does not know yet.
      const isRefused = error instanceof ReplyError && !error.message.startsWith("NOSCRIPT");
      // A connection without a limit of tries is a worker's.
      if (isRefused && this.status === "ready" && this.options.maxRetriesPerRequest === null)
        setTimeout(() => reject(typed), refusedPauseMs);
      else reject(typed);
    };
    return super.sendCommand(command, ...(more as []));
  }

  // bullmq makes a worker's blocking connection this way. The one that it is a copy of tells of an outage.
  override duplicate(more: RedisOptions = {}): Redis {
    return new Connection(quietly(this.#log), null, { ...this.options, ...more });
  }
}

const connectTimeout = 2000;

/** The Sentinels, which know the master's address. User, password, database and TLS are those of `REDIS_URL`. */
function sentinelsOf(config: Config): RedisOptions {
  if (config.redisSentinels.length === 0) return {};
  const isSecure = config.redisUrl.startsWith("rediss:");
  return {
    sentinels: config.redisSentinels.map((address) => hostAndPort(address, 26_379)),
    name: config.redisSentinelName,
    ...(config.redisSentinelPassword === ""
      ? {}
      : { sentinelPassword: config.redisSentinelPassword }),
    ...(isSecure ? { sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  };
}

/** User, password and TLS are those of `REDIS_URL`. */
function createCluster(config: Config, log: Log, kind: "request" | "worker"): Redis {
  const { username, password, protocol } = new URL(config.redisUrl.replace(/@(?=\/|$)/, "@unused"));
  const nodes = config.redisCluster.map((address) => hostAndPort(address, 6379));
  const cluster = new ClusterConnection(log, nodes, kind, {
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" ? { tls: {} } : {}),
    ...(kind === "request"
      ? { maxRetriesPerRequest: 0, commandTimeout: config.redisTimeoutMs, connectTimeout }
      : { maxRetriesPerRequest: null }),
  });
  // A Cluster has all the functions of a Redis that are used.
  return cluster as unknown as Redis;
}

function hostAndPort(address: string, usual: number): { host: string; port: number } {
  const [, host = "", port = usual] = /^(.+?)(?::(\d+))?$/.exec(address) ?? [];
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/**
 * The prefix of one partner's counters. The partner is in the hash tag, so that partners spread over the nodes of a
 * cluster while the counters of one stay together (decisions 16.35).
 */
export const partnerPrefix = (prefix: string, partnerId: number | string): string =>
  prefix.replace("}", `.p${partnerId}}`);

/** INFO of each master. Rejects while one of them is away. */
export const infoOfMasters = (redis: Redis, section: string): Promise<string[]> => {
  const masters = redis.isCluster ? (redis as unknown as Cluster).nodes("master") : [redis];
  return Promise.all(masters.map((master) => master.info(section)));
};

/** Calls when another Redis may answer from now on, which may lack the last writes: also at each new connection. */
export const onOtherMaster = (redis: Redis, call: () => void): void => {
  redis.on("ready", call);
  redis.on("moved", call);
};

/** A Lua script that runs often: Redis is sent its hash only. */
interface Script {
  lua: string;
  sha: string;
}

export const scriptOf = (lua: string): Script => ({ lua, sha: hash("sha1", lua, "hex") });

/** Runs a script. Gives numbers as numbers and texts as buffers; rejects when Redis is away or too slow. */
export async function runScript(
  redis: Redis,
  { lua, sha }: Script,
  keys: readonly string[],
  values: readonly (string | number | Buffer)[],
): Promise<unknown> {
  try {
    return await redis.callBuffer("evalsha", sha, keys.length, ...keys, ...values);
  } catch (error) {
    // A restarted Redis has forgotten the script.
    if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
    return redis.callBuffer("eval", lua, keys.length, ...keys, ...values);
  }
}

/** True when `error` means that Redis is away or frozen. Decided by code and class, as `isUnavailable` of Postgres. */
export const isRedisAway = (error: unknown): boolean =>
  // bullmq's own class, by its name: most commands of the command line need Redis and no bullmq.
  error instanceof Error && (isNetworkFault(error) || error.name === "ConnectionClosedError");
