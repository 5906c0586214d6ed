import { type JobsOptions, Queue } from "bullmq";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { ConnectionFault } from "#src/infrastructure/faults.ts";
import { slices } from "#src/infrastructure/lists.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { isOrphan, type QueueName } from "#src/infrastructure/queue-state.ts";
import { createRedis, isRedisAway, type Redis } from "#src/infrastructure/redis.ts";
import type { DutyName } from "#src/infrastructure/schedule.ts";

/** A wake-up for the marks worker. The truth is `processed_at is null` in the database. */
export interface MarksJob {
  stationIds: string[];
  /** The requests that brought the marks, as `traceparent` headers, where they are traced. */
  traces?: string[];
}

/** A wake-up for the webhooks workers. The truth is in the database: the events that wait for the endpoint. */
export interface WebhookJob {
  endpointId: number;
}

/** A wake-up for the workers that tell drivers. The truth is in the database: the notices that wait for the device. */
export interface AlertJob {
  deviceId: number;
}

/** A wake-up for the imports workers. The truth is in the database: the time at which the feed is due. */
export interface FeedJob {
  feedId: number;
}

/** A duty of one time slot; its job id comes from duty and slot, so that two clocks enqueue it once. */
export interface SlotJob {
  duty: DutyName;
  slot: number;
}

export type Producer = ReturnType<typeof createProducer>;

/** Ids of completed slots that a queue remembers: a second clock may come a moment after the work is done. */
const slotsKept = 50;
/** The wake-ups of which one waits for each id at most. */
const jobOf = {
  webhooks: (endpointId: number): WebhookJob => ({ endpointId }),
  alerts: (deviceId: number): AlertJob => ({ deviceId }),
  imports: (feedId: number): FeedJob => ({ feedId }),
};

/** A wake-up covers later ones for this time, ms, and then counts as lost: one too many does no harm. */
const wakeMs = 30_000;
const wakeStations = 200;
/** Waiting wake-ups of a queue, about; what lacks one is found by its duty. */
const wakesMost = 1000;

/**
 * The sending side of all queues of one process, over one connection that fails at once while Redis is away. `clock`
 * dates the jobs, for their ages.
 */
export function createProducer(config: Config, log: Log, clock: Clock = Date.now) {
  const connection = createRedis(config, log);
  const queues = new Map<QueueName, Queue>();

  // A queue made while Redis is away stays broken for good, so each is made when it is first needed and can be.
  const queue = (name: QueueName): Queue => {
    const known = queues.get(name);
    if (known !== undefined) return known;
    if (connection.status !== "ready") throw new ConnectionFault("Redis is away");
    const made = new Queue(name, {
      connection,
      prefix: config.redisPrefix,
      skipWaitingForReady: true,
      skipMetasUpdate: true,
      // It asks INFO, which hosted servers often forbid; every Redis that this service runs with is newer.
      skipVersionCheck: true,
      defaultJobOptions: {
        removeOnComplete: true,
        removeOnFail: { count: 1000 },
        attempts: 5,
        backoff: { type: "fixed", delay: 1000 },
      },
    });
    // The connection has already logged that Redis is away.
    made.on("error", (error) =>
      log[isRedisAway(error) ? "debug" : "warn"]({ err: error.message, queue: name }, "queue"),
    );
    made.waitUntilReady().catch(() => queues.delete(name));
    queues.set(name, made);
    return made;
  };
  const notAdded = async (name: QueueName, error: unknown): Promise<void> => {
    const { message: err } = error as Error;
    log.debug({ err, queue: name }, "not enqueued, will be made up for");
    if (!err.includes("WRONGTYPE")) return;
    const dropped = await dropOfWrongType(connection, queue(name)).catch(() => []);
    for (const key of dropped)
      log.error({ queue: name, key }, "key of the queue was of another type, dropped");
  };
  const add = async (
    name: QueueName,
    job: string,
    data: object,
    options?: JobsOptions,
  ): Promise<boolean> => {
    try {
      const dated = { timestamp: clock(), ...options };
      const made = await queue(name).add(job, data, dated);
      const dedupId = options?.deduplication?.id;
      if (dedupId === undefined || !(await isOrphan(queue(name), made.id!, dedupId))) return true;
      log.error({ queue: name, job: made.id }, "job will not be taken any more, made anew");
      await queue(name).remove(made.id!);
      await queue(name).removeDeduplicationKey(dedupId);
      await queue(name).add(job, data, dated);
      return true;
    } catch (error) {
      await notAdded(name, error);
      return false;
    }
  };
  const wake = async (name: keyof typeof jobOf, ids: readonly number[]): Promise<void> => {
    if (ids.length === 0) return;
    const jobs = ids.map((id) => ({
      name: "wake",
      data: jobOf[name](id),
      opts: {
        timestamp: clock(),
        attempts: 1,
        deduplication: { id: `${name}-${id}`, ttl: wakeMs },
      },
    }));
    try {
      // While no worker takes them, each would come again after `wakeMs`, until Redis is full.
      if ((await queue(name).getWaitingCount()) < wakesMost) await queue(name).addBulk(jobs);
    } catch (error) {
      await notAdded(name, error);
    }
  };
  const taken = async (name: keyof typeof jobOf, id: number): Promise<void> =>
    void (await queue(name).removeDeduplicationKey(`${name}-${id}`));
  return {
    /** Wakes the marks worker for stations. Never throws and never waits: a lost wake-up costs seconds, not a mark. */
    wakeMarks(ids: readonly string[], traces: readonly string[] = []): void {
      const more = traces.length > 0 ? { traces: [...traces] } : {};
      for (const stationIds of slices(ids, wakeStations))
        void add("marks", "wake", { stationIds, ...more } satisfies MarksJob);
    },
    /**
     * Wakes the webhooks workers, with one waiting job for each endpoint at most. Never throws: the duty `webhooks`
     * finds lost wake-ups.
     */
    wakeEndpoints: (ids: readonly number[]): Promise<void> => wake("webhooks", ids),
    /** Makes the next wake-up of this endpoint a new job. */
    endpointTaken: (id: number): Promise<void> => taken("webhooks", id),
    /** The same for devices of drivers; the duty `alerts` finds lost wake-ups. */
    wakeDevices: (ids: readonly number[]): Promise<void> => wake("alerts", ids),
    deviceTaken: (id: number): Promise<void> => taken("alerts", id),
    /** The same for feeds; the duty `feeds` finds those that are due. */
    wakeFeeds: (ids: readonly number[]): Promise<void> => wake("imports", ids),
    feedTaken: (id: number): Promise<void> => taken("imports", id),
    /**
     * Enqueues a slot's duty once, for any number of callers. While a job of the duty waits or runs, nothing is added:
     * a duty does all due work when it runs, so one late job is enough after an outage of the workers. A job that
     * neither waits nor runs, because Redis has lost its list, blocks nothing (decisions 21.36). A failed job is tried
     * twice more: when Redis is back, a worker may get its job before its other connections are ready. There is no
     * backoff: a worker with a wrong clock could delay a job to next year, which would block all others. `again` makes
     * another job of a slot that was done before. False when Redis is away. Never throws.
     */
    addSlot: (name: QueueName, job: SlotJob, again = ""): Promise<boolean> =>
      add(name, job.duty, job, {
        jobId: `${job.duty}-s${job.slot}${again}`,
        deduplication: { id: job.duty },
        attempts: 3,
        removeOnComplete: { count: slotsKept },
        removeOnFail: { age: 3600 },
      }),
    /** Calls back each time that Redis can be reached, also when it already can be. */
    onReady(call: () => void): void {
      connection.on("ready", call);
      if (connection.status === "ready") call();
    },
    /** Throws while Redis is away. */
    queue,
    async close(): Promise<void> {
      await Promise.allSettled([...queues.values()].map((one) => one.close()));
      connection.disconnect();
    },
  };
}

/** Drops the queue's own keys of a wrong type, which fail every call. Gives the dropped keys. */
async function dropOfWrongType(redis: Redis, queue: Queue): Promise<string[]> {
  const dropped: string[] = [];
  for (const [type, names] of Object.entries(typesOfKeys))
    for (const key of names.map((name) => queue.toKey(name)))
      if (![type, "none"].includes(await redis.type(key))) {
        await redis.del(key);
        dropped.push(key);
      }
  return dropped;
}

const typesOfKeys = {
  list: ["wait", "paused", "active"],
  zset: ["prioritized", "delayed", "completed", "failed", "waiting-children", "marker"],
  set: ["stalled"],
  stream: ["events"],
  hash: ["meta"],
  string: ["id", "stalled-check"],
};
