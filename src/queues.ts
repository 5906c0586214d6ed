import { Queue } from "bullmq";
import type { Config } from "#src/config.ts";
import type { Log } from "#src/log.ts";
import { createRedis } from "#src/redis.ts";

export const queueNames = ["marks", "snapshots", "upkeep"] as const;
export type QueueName = (typeof queueNames)[number];

/** A wake-up for the marks worker. The truth is `processed_at is null` in the database. */
export interface MarksJob {
  stationIds: string[];
}

/** A duty of one time slot; its job id comes from duty and slot, so that two clocks enqueue it once. */
export interface SlotJob {
  duty: string;
  slot: number;
}

export interface Producer {
  /** Wakes the marks worker for stations. Never throws and never waits: a lost wake-up costs seconds, not a mark. */
  wakeMarks(stationIds: readonly string[]): void;
  /** Enqueues a slot's duty once, whoever asks. Never throws. */
  addSlot(queue: QueueName, job: SlotJob): Promise<void>;
  queue(name: QueueName): Queue;
  close(): Promise<void>;
}

/** The sending side of all queues of one process, over one connection that fails at once while Redis is away. */
export function createProducer(config: Config, log: Log): Producer {
  const connection = createRedis(config, log);
  const queues = new Map(
    queueNames.map((name) => {
      const queue = new Queue(name, {
        connection,
        prefix: config.redisPrefix,
        skipWaitingForReady: true,
        skipMetasUpdate: true,
        defaultJobOptions: {
          removeOnComplete: true,
          removeOnFail: { count: 1000 },
          attempts: 5,
          backoff: { type: "fixed", delay: 1000 },
        },
      });
      queue.on("error", (error) => log.warn({ err: error.message, queue: name }, "queue"));
      return [name, queue];
    }),
  );
  const queue = (name: QueueName): Queue => queues.get(name)!;
  const failed = (error: unknown): void =>
    log.warn({ err: (error as Error).message }, "wake-up not sent, the sweep will find the work");
  return {
    wakeMarks: (stationIds) => {
      queue("marks")
        .add("wake", { stationIds: [...stationIds] } satisfies MarksJob)
        .catch(failed);
    },
    addSlot: async (name, job) => {
      await queue(name)
        .add(job.duty, job, {
          jobId: `${job.duty}-s${job.slot}`,
          attempts: 1,
          removeOnFail: { age: 3600 },
        })
        .catch(failed);
    },
    queue,
    close: async () => {
      await Promise.allSettled([...queues.values()].map((one) => one.close()));
      connection.disconnect();
    },
  };
}
