import { type Job, type Processor, Worker, type WorkerOptions } from "bullmq";
import type { QueueName } from "#src/infrastructure/queue-state.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Peers } from "#src/infrastructure/peers.ts";
import type { Quarantine } from "#src/infrastructure/quarantine.ts";
import type { Producer, SlotJob } from "#src/infrastructure/queues.ts";
import { isRedisAway, type Redis } from "#src/infrastructure/redis.ts";
import type { Resources } from "#src/infrastructure/resources.ts";
import type { ServerTime } from "#src/infrastructure/server-time.ts";
import type { Tracer } from "#src/infrastructure/tracing.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { dutyAlarm } from "#src/alarms/raise.ts";
import { createDutyWatch, noteDuty } from "#src/infrastructure/duty-times.ts";
import type { DutyName } from "#src/infrastructure/schedule.ts";

/** The parts of every worker role. `redis` fails at once while Redis is away, `workerRedis` waits for ever. */
export interface RoleDeps extends Resources {
  /** Null or absent without traces. */
  tracer?: Tracer | null;
  /** The time behind `clock`. */
  time: ServerTime;
  /** The facts of the other processes. */
  peers: Peers;
  /** Rows that this process has read and cannot use. */
  quarantine: Quarantine;
  workerRedis: () => Redis;
  producer: () => Producer;
}

export interface Role {
  start(): Promise<void>;
  /** Finishes the current work and takes no more. */
  stop(): Promise<void>;
}

/** Work that may run twice or late. Its result is logged, at level info unless it is 0 or undefined. */
export type Duty = () => Promise<unknown>;

/** A worker that counts the turns of its loop: it asks for a job every few seconds, also where there is none. */
class CountedWorker<Data> extends Worker<Data> {
  turns = 0;

  protected override moveToActive(
    ...question: Parameters<Worker<Data>["moveToActive"]>
  ): ReturnType<Worker<Data>["moveToActive"]> {
    this.turns += 1;
    return super.moveToActive(...question);
  }
}

const standstillLookMs = 5000;
/** Looks without a turn, each while Redis answers, after which a role ends itself. */
const standstillLooks = 12;

/**
 * Takes the jobs of a queue, once `run` is called. `onFailed` logs a job that failed. A loop that has made no turn for a
 * minute while Redis answers and a place is free ends the process: whatever it waits for does not come (decisions 16.46).
 */
export function createQueueWorker<Data>(
  { config, log, redis, workerRedis }: Pick<RoleDeps, "config" | "log" | "redis" | "workerRedis">,
  queue: QueueName,
  handle: Processor<Data>,
  options: Partial<WorkerOptions>,
  onFailed = (error: Error, job: Job<Data> | undefined): void =>
    log.warn({ err: error.message, ...job?.data }, `not done: ${queue}`),
  everyMs = standstillLookMs,
) {
  const connection = {
    ...{ connection: workerRedis(), prefix: config.redisPrefix, autorun: false },
    ...{ lockDuration: 30_000, stalledInterval: 10_000, maxStalledCount: 100 },
    // As of the queues that are sent to.
    skipVersionCheck: true,
  };
  let busy = 0;
  const counted: Processor<Data> = async (...job) => {
    busy += 1;
    try {
      return (await handle(...job)) as unknown;
    } finally {
      busy -= 1;
    }
  };
  const worker = new CountedWorker<Data>(queue, counted, { ...connection, ...options });
  let still = 0;
  let seen = -1;
  const standstill = createPolled({
    everyMs,
    look: async () => {
      const isTurning = worker.turns !== seen || busy >= (options.concurrency ?? 1);
      seen = worker.turns;
      const isAnswered = !isTurning && (await redis.ping().catch(() => null)) !== null;
      still = isAnswered ? still + 1 : 0;
      if (still >= standstillLooks)
        throw new Error(`the loop of the queue ${queue} stands still while Redis answers`);
    },
  });
  // bullmq reports each failed attempt to connect; the connection has already logged that Redis is away.
  worker.on("error", (error) =>
    log[isRedisAway(error) ? "debug" : "warn"]({ err: error.message }, "worker"),
  );
  worker.on("failed", (job, error) => onFailed(error, job));
  return {
    run(): void {
      void worker.run().catch((error: Error) => log.error({ err: error }, "worker stopped"));
      void standstill.start();
    },
    async close(): Promise<void> {
      await standstill.stop();
      await worker.close();
    },
  };
}

/** A duty that makes or deletes by the time: left out, and so late, while the clocks cannot be trusted. */
export const whileTrusted =
  ({ time }: Pick<RoleDeps, "time">, duty: Duty): Duty =>
  () =>
    time.isTrusted() ? duty() : Promise.resolve(leftOut);

/** The result of a duty that was left out. */
export const leftOut = Symbol("left out");
/** Pause between two attempts at a duty, ms. It is made here, because the queue's pauses follow the wall clock. */
const pauseMs = 1000;

/**
 * Takes a queue's slot jobs and does their duties. A duty does all work that is due now, for any slot of its job: a
 * late job covers all slots before it, and the queue holds at most one job of a duty (`addSlot`). Notes each success in
 * Redis, and logs when the duties, of any role, are late.
 */
export function createDutyWorker(
  deps: RoleDeps,
  queue: QueueName,
  duties: Readonly<Partial<Record<DutyName, Duty>>>,
  options: Partial<WorkerOptions>,
) {
  const { config, log, clock, redis } = deps;
  const watch = createDutyWatch(deps, dutyAlarm(deps.db, clock));
  const underWay = new Map<DutyName, Promise<void>>();

  /** A job that this process took again, because Redis was away for longer than its lock, shares the first run. */
  const run = ({ data: { duty } }: Job<SlotJob>): Promise<void> => {
    const running = underWay.get(duty) ?? begin(duty).finally(() => underWay.delete(duty));
    underWay.set(duty, running);
    return running;
  };

  const begin = async (duty: DutyName): Promise<void> => {
    const work = duties[duty];
    // A clock of another version has enqueued it.
    if (work === undefined) {
      log.info({ duty }, "no duty of this version, left out");
      return;
    }
    const startedAt = performance.now();
    const result = await work().catch(async (error: unknown) => {
      await sleep(pauseMs);
      throw error;
    });
    if (result === leftOut) return;
    // The work is done; a failure to note it can only cause an alarm.
    await noteDuty(redis, config.redisPrefix, duty, clock()).catch(() => {});
    const ms = Math.round(performance.now() - startedAt);
    log[result ? "info" : "debug"]({ duty, result, ms }, "duty done");
  };

  const worker = createQueueWorker<SlotJob>(deps, queue, run, options, (error, job) => {
    const again = job !== undefined && job.attemptsMade < (job.opts.attempts ?? 1);
    const line = { err: error.message, duty: job?.data.duty };
    if (again) log.warn(line, "duty failed, is tried again");
    else log.error(line, "duty failed");
  });
  return {
    run(): void {
      void watch.start();
      worker.run();
    },
    async close(): Promise<void> {
      await worker.close();
      await watch.stop();
    },
  };
}
