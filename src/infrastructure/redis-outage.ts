import { setTimeout as sleep } from "node:timers/promises";
import { type Redis, ReplyError } from "ioredis";
import { minuteMs } from "#src/domain/units.ts";
import { ConnectionFault } from "#src/infrastructure/faults.ts";
import type { Log } from "#src/infrastructure/log.ts";

/** Pause between two tries to find the new master, ms. */
const demotedPauseMs = 1000;
const lookEveryMs = 10_000;
/** A blocking read answers after ten seconds at the latest, and the commands behind it come later still. */
const blockedMs = 15_000;
/** A worker repeats a refused command at once, so the refusal is delayed, ms. */
export const refusedPauseMs = 500;

/** The answer of a master that became a replica, to writes and to blocking reads. */
const isDemoted = ({ message }: Error): boolean => /^UNBLOCKED\b|\bREADONLY\b/.test(message);

/** Answers of a server that cannot serve anybody now. */
export const cannotServe = /^(LOADING|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|MOVED|ASK|TRYAGAIN) /;

/** The same error, or a `ConnectionFault` if its class does not tell. */
export const typedFault = (error: Error): Error =>
  isTyped(error) ? error : new ConnectionFault(error.message, { cause: error });

const isTyped = (error: Error): boolean =>
  error instanceof ReplyError
    ? !isDemoted(error) && !cannotServe.test(error.message)
    : error instanceof TypeError || error instanceof ConnectionFault;

export type OutageLog = Pick<Log, "debug" | "info" | "warn">;

/** The log of a connection whose outages another connection logs. */
export const quietly = (log: OutageLog): OutageLog => {
  const debug = log.debug.bind(log);
  return { debug, info: debug, warn: debug };
};

/** Logs a line when Redis goes away, one when it is back, and one a minute while it answers but cannot serve. */
export function createOutageLines(log: OutageLog) {
  let isAway = false;
  let toldAt = -Infinity;
  return {
    away(error: Error): void {
      log[isAway ? "debug" : "warn"]({ err: error.message }, "redis is away");
      isAway = true;
    },
    back(): void {
      if (isAway) log.info("redis is back");
      isAway = false;
    },
    refused(error: Error): void {
      const isNews = performance.now() - toldAt > minuteMs;
      if (isNews) toldAt = performance.now();
      log[isNews ? "warn" : "debug"]({ err: error.message }, "redis cannot serve");
    },
  };
}

/** The message of ioredis. */
const noAnswer = "Command timed out";

/** INFO of Redis's role. Rejects with `noAnswer` after the connection's time limit, or that of a blocking read. */
async function answered(redis: Redis): Promise<string> {
  const over = new AbortController();
  const late = sleep(blockedMs, undefined, { ref: false, signal: over.signal }).then(() => {
    throw new Error(noAnswer);
  });
  try {
    return await Promise.race([redis.info("replication"), late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}

/**
 * Logs a line when Redis goes away and one when it is back; until then the connection is tried twice a second. A master
 * that became a replica counts as away: the connection is made again until it leads to a master. The same holds for a
 * server that does not answer on an open connection, such as a lost machine: another one may have its name, or be known
 * to the Sentinels.
 */
export function createOutage(log: OutageLog) {
  const { away, back: tellBack, refused } = createOutageLines(log);
  let demoted = false;
  const back = (): void => {
    tellBack();
    demoted = false;
  };
  return {
    options: {
      retryStrategy: (times: number): number =>
        demoted ? demotedPauseMs : Math.min(50 * times, 500),
      reconnectOnError: (error: Error): boolean => {
        if (cannotServe.test(error.message)) refused(error);
        if (!isDemoted(error)) return false;
        demoted = true;
        away(error);
        return true;
      },
    },
    watch(redis: Redis): void {
      let timer: NodeJS.Timeout | undefined;
      let isLooking = false;
      const look = async (): Promise<void> => {
        if (isLooking) return;
        isLooking = true;
        try {
          const info = await answered(redis);
          if (!info.includes("role:slave")) return back();
          demoted = true;
          away(new Error("READONLY, it has become a replica"));
          redis.disconnect(true);
        } catch (error) {
          const { message } = error as Error;
          log.debug({ err: message }, "no look at the role of redis");
          if (message !== noAnswer || redis.status !== "ready") return;
          away(error as Error);
          redis.disconnect(true);
        } finally {
          isLooking = false;
        }
      };
      redis.on("error", away);
      redis.on("close", () => clearInterval(timer));
      redis.on("ready", () => {
        if (demoted) void look();
        else back();
        clearInterval(timer);
        // A connection that only reads does not notice a demotion.
        timer = setInterval(() => void look(), lookEveryMs).unref();
      });
    },
  };
}
