import { Worker } from "bullmq";
import type { SlotJob } from "#src/queues.ts";
import type { Role, RoleDeps } from "#workers/role.ts";
import { settleInstants } from "#workers/upkeep/instants.ts";
import { makePartitions, retire } from "#workers/upkeep/retention.ts";

type Duty = (deps: RoleDeps) => Promise<unknown>;

/** The duties that the clock enqueues, by name. Each can be done twice, or late, without harm. */
export const duties: Readonly<Record<string, Duty>> = {
  instants: settleInstants,
  partitions: makePartitions,
  retention: retire,
};

/** The upkeep role: rows for what time changed, partitions, retention. */
export function createUpkeepRole(deps: RoleDeps): Role {
  const { config, log, workerRedis } = deps;
  const worker = new Worker<SlotJob>(
    "upkeep",
    async (job) => {
      const duty = duties[job.data.duty];
      if (duty === undefined) throw new Error(`unknown duty ${job.data.duty}`);
      const startedAt = performance.now();
      const result = await duty(deps);
      const level = result ? "info" : "debug";
      log[level](
        { duty: job.data.duty, result, ms: Math.round(performance.now() - startedAt) },
        "duty done",
      );
    },
    {
      connection: workerRedis,
      prefix: config.redisPrefix,
      concurrency: 2,
      autorun: false,
      lockDuration: 30_000,
      stalledInterval: 10_000,
      maxStalledCount: 10,
    },
  );
  worker.on("error", (error) => log.warn({ err: error.message }, "worker"));
  worker.on("failed", (job, error) =>
    log.error({ err: error.message, duty: job?.data.duty }, "duty failed"),
  );
  return {
    start: async () => {
      await makePartitions(deps);
      worker.run().catch((error: Error) => log.error({ err: error }, "worker stopped"));
    },
    stop: () => worker.close(),
  };
}
