import { createReadModel } from "#snapshots/model/model.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { createFollower } from "#src/feed/follower.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis } from "#src/infrastructure/redis.ts";
import type { TestInstance } from "#test/harness/instance.ts";
import { createDumpDuty, createSetsDuty } from "#workers/snapshots/dumps.ts";

/** The duties of the snapshots role by a clock that the test moves. */
export interface DumpMaker {
  /** Makes whatever dumps are due: of the whole country and of the sets asked for. */
  make(): Promise<void>;
  stop(): Promise<void>;
}

export async function createDumpMaker(
  { config }: TestInstance,
  clock: () => number,
): Promise<DumpMaker> {
  const log = createLog({ logLevel: "silent" }, "test");
  const db = createDb(config, "dumps");
  const redis = createWorkerRedis(config, log);
  const model = createReadModel({ lifetimeMs: config.statusLifetimeMs });
  const onRows = (rows: Parameters<typeof model.apply>[0]): void => model.apply(rows, clock());
  const follower = createFollower({ db, config, log, clock, onRows });
  const makeWhole = createDumpDuty({ config, log, clock, redis, model, follower });
  const makeSets = createSetsDuty({ config, log, clock, redis, model, follower });
  return {
    make: async () => {
      await makeWhole();
      await makeSets();
    },
    stop: async () => {
      await follower.stop();
      redis.disconnect();
      await db.destroy();
    },
  };
}
