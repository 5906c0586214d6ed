import { createClock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { createRedis, createWorkerRedis } from "#src/infrastructure/redis.ts";
import { createClockRole } from "#workers/clock/role.ts";
import { createMarksRole } from "#workers/marks/role.ts";
import type { Role, RoleDeps } from "#workers/role.ts";
import { createSnapshotsRole } from "#workers/snapshots/role.ts";
import { createUpkeepRole } from "#workers/upkeep/role.ts";
import { createWebhooksRole } from "#workers/webhooks/role.ts";

/** The worker roles, by the names of the Procfile. */
export const workerRoles: Readonly<Record<string, (deps: RoleDeps) => Role>> = {
  marks: createMarksRole,
  snapshots: createSnapshotsRole,
  upkeep: createUpkeepRole,
  webhooks: (deps) => createWebhooksRole(deps),
  clock: createClockRole,
};

/** A worker role with its connections; several can run in one Node process. Throws for an unknown role. */
export function assembleWorker(name: string, config: Config, log: Log): Role {
  const create = workerRoles[name];
  if (create === undefined) throw new Error(`name a role: ${Object.keys(workerRoles).join(", ")}`);
  const deps: RoleDeps = {
    config,
    log,
    clock: createClock(config),
    db: createDb(config, name),
    redis: createRedis(config, log),
    workerRedis: createWorkerRedis(config, log),
    producer: createProducer(config, log),
  };
  const role = create(deps);
  return {
    start: () => role.start(),
    stop: async () => {
      await role.stop();
      await deps.producer.close();
      deps.redis.disconnect();
      deps.workerRedis.disconnect();
      await deps.db.destroy();
    },
  };
}
