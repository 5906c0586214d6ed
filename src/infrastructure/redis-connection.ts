import { type Command, Redis, type RedisOptions, ReplyError } from "ioredis";
import { minuteMs } from "#src/domain/units.ts";
import { ConnectionFault } from "#src/infrastructure/faults.ts";
import type { Log } from "#src/infrastructure/log.ts";

/** Between two tries to find the new master, ms. */
const demotedPauseMs = 1000;
const lookEveryMs = 10_000;
/** A worker asks again at once when it is refused something. */
const refusedPauseMs = 500;

/** A master that became a replica says this to who wants to write, and to who waits for a write. */
const isDemoted = ({ message }: Error): boolean => /^UNBLOCKED\b|\bREADONLY\b/.test(message);

/** What a server says that answers, and cannot serve anybody now. */
const cannotServe = /^(LOADING|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|MOVED|ASK|TRYAGAIN) /;

/**
 * A connection to the master. Gives each fault of ioredis a class, as most have neither a class that it exports nor a
 * code: a server that cannot serve is a connection that was lost, and anything else that Redis answers a `ReplyError`; a
 * bug is a `TypeError`; whatever else rejects a command is a connection that was lost.
 */
export class Connection extends Redis {
  readonly #log: OutageLog;

  /** `url`: null where the options have all of it. */
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
      const typed = isTyped(error) ? error : new ConnectionFault(error.message, { cause: error });
      // ioredis itself sends a script that is not known yet.
      const isRefused = error instanceof ReplyError && !error.message.startsWith("NOSCRIPT");
      // Without a limit of tries this is a worker's connection.
      if (isRefused && this.status === "ready" && this.options.maxRetriesPerRequest === null)
        setTimeout(() => reject(typed), refusedPauseMs);
      else reject(typed);
    };
    return super.sendCommand(command, ...(more as []));
  }

  // bullmq makes a worker's blocking connection this way. The one that it is a copy of tells of an outage.
  override duplicate(more: RedisOptions = {}): Redis {
    const debug = this.#log.debug.bind(this.#log);
    return new Connection({ debug, info: debug, warn: debug }, null, { ...this.options, ...more });
  }
}

const isTyped = (error: Error): boolean =>
  error instanceof ReplyError
    ? !isDemoted(error) && !cannotServe.test(error.message)
    : error instanceof TypeError || error instanceof ConnectionFault;

type OutageLog = Pick<Log, "debug" | "info" | "warn">;

/**
 * One line when Redis goes away and one when it is back: a connection tries twice a second, for as long as that takes. A
 * master that became a replica is away, though it answers: the connection is made again until it leads to a master.
 */
function createOutage(log: OutageLog) {
  let isAway = false;
  let demoted = false;
  let toldAt = -Infinity;
  const away = (error: Error): void => {
    log[isAway ? "debug" : "warn"]({ err: error.message }, "redis is away");
    isAway = true;
  };
  const back = (): void => {
    if (isAway) log.info("redis is back");
    isAway = false;
    demoted = false;
  };
  const tellRefusal = (error: Error): void => {
    const isNews = performance.now() - toldAt > minuteMs;
    if (isNews) toldAt = performance.now();
    log[isNews ? "warn" : "debug"]({ err: error.message }, "redis cannot serve");
  };
  return {
    options: {
      retryStrategy: (times: number): number =>
        demoted ? demotedPauseMs : Math.min(50 * times, 500),
      reconnectOnError: (error: Error): boolean => {
        if (cannotServe.test(error.message)) tellRefusal(error);
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
          const info = await redis.info("replication");
          if (!info.includes("role:slave")) return back();
          demoted = true;
          away(new Error("READONLY, it has become a replica"));
          redis.disconnect(true);
        } catch (error) {
          log.debug({ err: (error as Error).message }, "no look at the role of redis");
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
        // Who only reads hears nothing of a demotion.
        timer = setInterval(() => void look(), lookEveryMs).unref();
      });
    },
  };
}
