import { createDutyWorker } from "#workers/duties.ts";
import type { Role, RoleDeps } from "#workers/role.ts";
import { settleTransitions } from "#workers/upkeep/transitions.ts";
import { makePartitions, retire } from "#workers/upkeep/retention.ts";
import { flushUsage } from "#workers/upkeep/usage.ts";

/** The upkeep role: rows for what time changed, usage, partitions, retention. It does what the clock enqueues. */
export function createUpkeepRole(deps: RoleDeps): Role {
  const worker = createDutyWorker(
    deps,
    "upkeep",
    {
      instants: () => settleTransitions(deps),
      usage: () => flushUsage(deps),
      partitions: () => makePartitions(deps),
      retention: () => retire(deps),
    },
    { concurrency: 2, lockDuration: 30_000, stalledInterval: 10_000, maxStalledCount: 10 },
  );
  return {
    start: async () => {
      await makePartitions(deps);
      worker.run();
    },
    stop: () => worker.close(),
  };
}
