import { type Job, Worker, type WorkerOptions } from "bullmq";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { QueueName } from "#src/infrastructure/queue-state.ts";
import type { Peers } from "#src/infrastructure/peers.ts";
import type { Quarantine } from "#src/infrastructure/quarantine.ts";
import type { Producer } from "#src/infrastructure/queues.ts";
import { isRedisAway, type Redis } from "#src/infrastructure/redis.ts";
import type { ServerTime } from "#src/infrastructure/server-time.ts";
import type { Tracer } from "#src/infrastructure/tracing.ts";

/** The parts of every worker role. `redis` fails at once while Redis is away, `workerRedis` waits for ever. */
export interface RoleDeps {
  config: Config;
  db: Db;
  log: Log;
  /** Null or absent without traces. */
  tracer?: Tracer | null;
  clock: Clock;
  /** The time behind `clock`. */
  time: ServerTime;
  /** The facts of the other processes. */
  peers: Peers;
  redis: Redis;
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

/** Takes the jobs of a queue, once `run` is called. `onFailed` logs a job that failed. */
export function createQueueWorker<Data>(
  { config, log, workerRedis }: RoleDeps,
  queue: QueueName,
  handle: (data: Data) => Promise<unknown>,
  onFailed: (error: Error, job: Job<Data> | undefined) => void,
  options: Partial<WorkerOptions>,
) {
  const connection = { connection: workerRedis(), prefix: config.redisPrefix, autorun: false };
  const worker = new Worker<Data>(queue, (job) => handle(job.data), { ...connection, ...options });
  // bullmq reports each failed attempt to connect; the connection has already logged that Redis is away.
  worker.on("error", (error) =>
    log[isRedisAway(error) ? "debug" : "warn"]({ err: error.message }, "worker"),
  );
  worker.on("failed", (job, error) => onFailed(error, job));
  return {
    run: (): void =>
      void worker.run().catch((error: Error) => log.error({ err: error }, "worker stopped")),
    close: (): Promise<void> => worker.close(),
  };
}
