import { createClock } from "#src/clock.ts";
import { createDb } from "#src/db.ts";
import { createProducer } from "#src/queues.ts";
import { createRedis, createWorkerRedis } from "#src/redis.ts";
import { roleConfig } from "#src/role-config.ts";
import { untilStopped } from "#src/stop.ts";
import { createClockRole } from "#workers/clock/role.ts";
import { createMarksRole } from "#workers/marks/role.ts";
import type { Role, RoleDeps } from "#workers/role.ts";
import { createSnapshotsRole } from "#workers/snapshots/role.ts";
import { createUpkeepRole } from "#workers/upkeep/role.ts";

const roles: Readonly<Record<string, (deps: RoleDeps) => Role>> = {
  marks: createMarksRole,
  snapshots: createSnapshotsRole,
  upkeep: createUpkeepRole,
  clock: createClockRole,
};

// One worker role per process: `node --import tsx workers/main.ts marks`.
const name = process.argv[2] ?? "";
const create = roles[name];
const { config, log } = roleConfig(name || "worker");
if (create === undefined) {
  log.fatal(`name a role: ${Object.keys(roles).join(", ")}`);
  process.exit(1);
}

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
await untilStopped(config, log, {
  start: () => role.start(),
  stop: async () => {
    await role.stop();
    await deps.producer.close();
    deps.redis.disconnect();
    deps.workerRedis.disconnect();
    await deps.db.destroy();
  },
});
