import { createClock } from "#src/clock.ts";
import type { Config } from "#src/config.ts";
import { createDb } from "#src/db.ts";
import { createLog } from "#src/log.ts";
import { createProducer } from "#src/queues.ts";
import { createRedis, createWorkerRedis } from "#src/redis.ts";
import type { Role, RoleDeps } from "#workers/role.ts";

/** Starts a worker role in this process. Answers what stops it. */
export async function startHere(
  create: (deps: RoleDeps) => Role,
  config: Config,
): Promise<() => Promise<void>> {
  const log = createLog({ logLevel: "silent" }, "test");
  const deps: RoleDeps = {
    config,
    log,
    clock: createClock(config),
    db: createDb(config, "worker"),
    redis: createRedis(config, log),
    workerRedis: createWorkerRedis(config, log),
    producer: createProducer(config, log),
  };
  const role = create(deps);
  await role.start();
  return async () => {
    await role.stop();
    await deps.producer.close();
    deps.redis.disconnect();
    deps.workerRedis.disconnect();
    await deps.db.destroy();
  };
}
