import type { SlotJob } from "#src/infrastructure/queues.ts";
import { createFollower } from "#src/feed/follower.ts";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { createLedger, createModelSnapshotStore } from "#snapshots/dumps/model-snapshot.ts";
import { createQueueWorker, type Role, type RoleDeps } from "#workers/role.ts";
import { createDumpDuty, createModelDuty, createSetsDuty } from "#workers/snapshots/duties.ts";

/**
 * The snapshots role: keeps a read model of its own, and in each time slot stores the dumps and the model snapshot
 * that need it. The clock's job starts a slot; without the clock a timer of the role does. Each slot runs once.
 */
export function createSnapshotsRole(deps: RoleDeps): Role {
  const { config, db, log, clock, redis } = deps;
  const { redisPrefix, slotMs } = config;
  const model = createReadModel({ lifetimeMs: config.statusLifetimeMs });
  const ledger = createLedger();
  const onRows = (rows: Parameters<typeof model.apply>[0]): void => {
    model.apply(rows, clock());
    ledger.apply(rows);
  };
  const follower = createFollower({ db, config, log, clock, onRows });
  // Long enough for a slow release, short enough to get rid of a dump from a database that was restored.
  const keptMs = config.dumpMaxAgeMs * 5;
  const snapshotStore = createModelSnapshotStore(redis, redisPrefix, keptMs);
  const more = { ...deps, follower };
  const slots = oncePerSlot([
    createDumpDuty({ ...more, model, store: createDumpStore(redis, redisPrefix, keptMs) }),
    createSetsDuty({ ...more, model }),
    createModelDuty({ ...more, ledger, store: snapshotStore }),
  ]);
  let timer: NodeJS.Timeout | undefined;

  const logFailure = (error: Error): void => log.warn({ err: error.message }, "snapshots not made");
  const worker = createQueueWorker<SlotJob>(
    deps,
    "snapshots",
    ({ slot }) => slots.run(slot),
    logFailure,
    { concurrency: 1, lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 10 },
  );

  // A little after the slot begins: when the clock is alive, its job has come first.
  const lateMs = slotMs / 5;
  const runByTimer = (): void => {
    slots.run(Math.floor((clock() - lateMs) / slotMs)).catch(logFailure);
  };

  return {
    start: async () => {
      await follower.start();
      worker.run();
      timer = setInterval(runByTimer, Math.min(1000, slotMs / 5));
      runByTimer();
    },
    stop: async () => {
      clearInterval(timer);
      await worker.close();
      await slots.idle();
      await follower.stop();
    },
  };
}

/** Runs one slot after the other. Every step of a slot is tried, even when a step before it failed. */
function oncePerSlot(steps: readonly ((slot: number) => Promise<void>)[]) {
  let lastSlot = -1;
  let running: Promise<void> = Promise.resolve();

  const runSteps = async (slot: number): Promise<void> => {
    const faults: unknown[] = [];
    for (const step of steps) await step(slot).catch((error: unknown) => faults.push(error));
    if (faults.length > 0) throw faults[0];
  };

  return {
    /** Does the work of a time slot once; rejects when it failed, and then the next slot tries again. */
    run(slot: number): Promise<void> {
      if (slot <= lastSlot) return running;
      lastSlot = slot;
      running = running.catch(() => {}).then(() => runSteps(slot));
      return running;
    },
    /** Resolves when nothing runs. */
    idle: (): Promise<void> => running.catch(() => {}),
  };
}
