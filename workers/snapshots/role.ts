import { Worker } from "bullmq";
import type { SlotJob } from "#src/infrastructure/queues.ts";
import { createFollower } from "#src/feed/follower.ts";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { createLedger, createModelSnapshotStore } from "#snapshots/dumps/model-snapshot.ts";
import { tellFault, type Role, type RoleDeps } from "#workers/role.ts";
import { createDumpDuty } from "#workers/snapshots/dump-duty.ts";
import { createModelDuty } from "#workers/snapshots/model-duty.ts";
import { createSetsDuty } from "#workers/snapshots/sets-duty.ts";
import { oncePerSlot } from "#workers/snapshots/once-per-slot.ts";

/**
 * The snapshots role: keeps a read model of its own and makes a dump of it in each slot that needs one. The clock
 * says when; without the clock it goes by its own timer, and a slot is done once.
 */
export function createSnapshotsRole(deps: RoleDeps): Role {
  const { config, db, log, clock, redis, workerRedis } = deps;
  const model = createReadModel({ lifetimeMs: config.statusLifetimeMs });
  const ledger = createLedger();
  const onRows = (rows: Parameters<typeof model.apply>[0]): void => {
    model.apply(rows, clock());
    ledger.apply(rows);
  };
  const follower = createFollower({ db, config, log, clock, onRows });
  // Long enough for a slow release, short enough to get rid of a dump from a database that was restored.
  const store = createDumpStore(redis, config.redisPrefix, config.dumpMaxAgeMs * 5);
  const makeDump = createDumpDuty({ config, log, clock, model, follower, store });
  const models = createModelSnapshotStore(redis, config.redisPrefix, config.dumpMaxAgeMs * 5);
  const keepModel = createModelDuty({ config, log, clock, db, ledger, follower, store: models });
  const keepSets = createSetsDuty({ config, log, clock, redis, model, follower });
  const duty = oncePerSlot([makeDump, keepSets, keepModel]);
  let timer: NodeJS.Timeout | undefined;

  const worker = new Worker<SlotJob>("snapshots", async (job) => duty(job.data.slot), {
    connection: workerRedis,
    prefix: config.redisPrefix,
    concurrency: 1,
    autorun: false,
    lockDuration: 10_000,
    stalledInterval: 5_000,
    maxStalledCount: 10,
  });
  worker.on("error", tellFault(log));
  worker.on("failed", (_, error) => log.warn({ err: error.message }, "snapshots not made"));

  // A little after the slot begins, so that with a clock alive the job has come first.
  const lateMs = config.slotMs / 5;
  const byOneself = (): void => {
    const slot = Math.floor((clock() - lateMs) / config.slotMs);
    duty(slot).catch((error: unknown) =>
      log.warn({ err: (error as Error).message }, "snapshots not made"),
    );
  };

  return {
    start: async () => {
      await follower.start();
      worker.run().catch((error: Error) => log.error({ err: error }, "worker stopped"));
      timer = setInterval(byOneself, Math.min(1000, config.slotMs / 5));
      byOneself();
    },
    stop: async () => {
      clearInterval(timer);
      await worker.close();
      await duty.idle();
      await follower.stop();
    },
  };
}
