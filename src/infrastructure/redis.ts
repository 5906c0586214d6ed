import { hash } from "node:crypto";
import type { Redis, RedisOptions } from "ioredis";
import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { isNetworkFault } from "#src/infrastructure/faults.ts";
import { Connection } from "#src/infrastructure/redis-connection.ts";

export type { Redis };

/**
 * A connection for commands that a request waits for: fails at once while Redis is away and after
 * `redisTimeoutMs` while it is frozen.
 */
export const createRedis = (config: Config, log: Log): Redis =>
  new Connection(log, config.redisUrl, {
    ...sentinelsOf(config),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: config.redisTimeoutMs,
    connectTimeout: 2000,
  });

/** A connection for a worker's blocking reads: waits for Redis for ever and never times out. */
export const createWorkerRedis = (config: Config, log: Log): Redis =>
  new Connection(log, config.redisUrl, { ...sentinelsOf(config), maxRetriesPerRequest: null });

/** With Sentinels: who is asked for the master's address. User, password, database and TLS are those of `REDIS_URL`. */
function sentinelsOf(config: Config): RedisOptions {
  if (config.redisSentinels.length === 0) return {};
  const sentinels = config.redisSentinels.map((address) => {
    const [, host = "", port = "26379"] = /^(.+?)(?::(\d+))?$/.exec(address) ?? [];
    return { host, port: Number(port) };
  });
  const isSecure = config.redisUrl.startsWith("rediss:");
  return {
    sentinels,
    name: config.redisSentinelName,
    ...(config.redisSentinelPassword === ""
      ? {}
      : { sentinelPassword: config.redisSentinelPassword }),
    ...(isSecure ? { sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  };
}

/** A Lua script that runs often: Redis is sent its hash only. */
export interface Script {
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
