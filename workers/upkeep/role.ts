import type { SlotJob } from "#src/infrastructure/queues.ts";
import { createQueueWorker, type Role, type RoleDeps } from "#workers/role.ts";
import { settleTransitions } from "#workers/upkeep/transitions.ts";
import { makePartitions, retire } from "#workers/upkeep/retention.ts";
import { flushUsage } from "#workers/upkeep/usage.ts";

type Duty = (deps: RoleDeps) => Promise<unknown>;

/** The duties that the clock enqueues, by the names in its jobs. Each can run twice or late without harm. */
export const duties: Readonly<Record<string, Duty>> = {
  instants: settleTransitions,
  usage: flushUsage,
  partitions: makePartitions,
  retention: retire,
};

/** The upkeep role: rows for what time changed, usage, partitions, retention. */
export function createUpkeepRole(deps: RoleDeps): Role {
  const { config, log } = deps;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<unknown> = Promise.resolve();
  let flushedAt = -Infinity;

  const run = async (name: string): Promise<void> => {
    const duty = duties[name];
    if (duty === undefined) throw new Error(`unknown duty ${name}`);
    const startedAt = performance.now();
    if (name === "usage") flushedAt = startedAt;
    const result = await duty(deps);
    const level = result ? "info" : "debug";
    log[level]({ duty: name, result, ms: Math.round(performance.now() - startedAt) }, "duty done");
  };

  /** A wiped Redis loses unflushed usage for good, so this duty does not depend on the clock. */
  const flushUnasked = (): void => {
    if (performance.now() - flushedAt < 0.9 * config.usageFlushMs) return;
    flushing = run("usage").catch((error: Error) =>
      log.debug({ err: error.message }, "usage not flushed, will try again"),
    );
  };

  const worker = createQueueWorker<SlotJob>(
    deps,
    "upkeep",
    ({ duty }) => run(duty),
    (error, job) => log.error({ err: error.message, duty: job?.data.duty }, "duty failed"),
    { concurrency: 2, lockDuration: 30_000, stalledInterval: 10_000, maxStalledCount: 10 },
  );
  return {
    start: async () => {
      await makePartitions(deps);
      timer = setInterval(flushUnasked, config.usageFlushMs);
      worker.run();
    },
    stop: async () => {
      clearInterval(timer);
      await flushing;
      await worker.close();
    },
  };
}
