import { hash } from "node:crypto";
import { type Command, Redis, type RedisOptions, ReplyError } from "ioredis";
import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { ConnectionFault, isNetworkFault } from "#src/infrastructure/faults.ts";

export type { Redis };

const retryStrategy = (times: number): number => Math.min(50 * times, 500);

/**
 * A connection for commands that a request waits for: fails at once while Redis is away and after
 * `redisTimeoutMs` while it is frozen.
 */
export function createRedis(config: Config, log: Log): Redis {
  const redis = new Connection(config.redisUrl, {
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
  const redis = new Connection(config.redisUrl, { retryStrategy, maxRetriesPerRequest: null });
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

/**
 * Gives each fault of ioredis a class, as most have neither a class that it exports nor a code: what Redis answers is
 * a `ReplyError`, and a bug a `TypeError`; whatever else rejects a command is a connection that was lost.
 */
class Connection extends Redis {
  override sendCommand(command: Command, ...more: unknown[]): unknown {
    const { reject } = command;
    command.reject = (error) =>
      reject(isTyped(error) ? error : new ConnectionFault(error.message, { cause: error }));
    return super.sendCommand(command, ...(more as []));
  }

  // bullmq makes a worker's blocking connection this way.
  override duplicate(more: RedisOptions = {}): Redis {
    return new Connection({ ...this.options, ...more } as never);
  }
}

const isTyped = (error: Error): boolean =>
  [ReplyError, TypeError, ConnectionFault].some((one) => error instanceof one);

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
