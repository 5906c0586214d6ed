import { Redis } from "ioredis";
import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { isNetworkFault } from "#src/infrastructure/network-fault.ts";

export type { Redis };

const retryStrategy = (times: number): number => Math.min(50 * times, 500);

/**
 * A connection for commands that a request waits for: fails at once while Redis is away and after
 * `redisTimeoutMs` while it is frozen.
 */
export function createRedis(config: Config, log: Log): Redis {
  const redis = new Redis(config.redisUrl, {
    retryStrategy,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: config.redisTimeoutMs,
    connectTimeout: 2000,
  });
  tellOutage(redis, log);
  return redis;
}

/** A connection for a worker's blocking reads: waits for Redis for ever and never times out. */
export function createWorkerRedis(config: Config, log: Log): Redis {
  const redis = new Redis(config.redisUrl, { retryStrategy, maxRetriesPerRequest: null });
  tellOutage(redis, log);
  return redis;
}

/** One line when Redis goes away and one when it is back: a connection tries twice a second, for as long as that takes. */
function tellOutage(redis: Redis, log: Log): void {
  let away = false;
  redis.on("error", (error: Error) => {
    log[away ? "debug" : "warn"]({ err: error.message }, "redis is away");
    away = true;
  });
  redis.on("ready", () => {
    if (away) log.info("redis is back");
    away = false;
  });
}

/** True when `error` means that Redis is away or frozen. Decided by code and class, as `isUnavailable` of Postgres. */
export function isRedisAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isNetworkFault(error) || lostClasses.has(error.name)) return true;
  const isBare = error.constructor === Error || error.name === "AbortError";
  return isBare && lostConnection.has(error.message);
}

/** By name: ioredis does not export its own, and this file knows nothing of bullmq. */
const lostClasses: ReadonlySet<string> = new Set([
  "ConnectionClosedError",
  "MaxRetriesPerRequestError",
]);

/** Whole messages of ioredis's faults that have neither a class of their own nor a code. */
const lostConnection: ReadonlySet<string> = new Set([
  "Connection is closed.",
  "Command timed out",
  "Command aborted due to connection close",
  "Stream isn't writeable and enableOfflineQueue options is false",
]);
