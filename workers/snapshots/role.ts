import type { SlotJob } from "#src/infrastructure/queues.ts";
import { createFollower } from "#src/feed/follower.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { createLedger } from "#snapshots/dumps/model-snapshot.ts";
import { createQueueWorker, type Duty, type Role, type RoleDeps } from "#workers/role.ts";
import { createModelDuty } from "#workers/snapshots/model-snapshot.ts";
import { createSetsDuty } from "#workers/snapshots/sets.ts";
import { createDumpDuty } from "#workers/snapshots/whole.ts";

/**
 * The snapshots role: keeps a read model of its own, and in each time slot stores the dumps and the model snapshot
 * that need it. The clock's job starts a slot; without the clock a timer of the role does. Each slot runs once.
 */
export function createSnapshotsRole(deps: RoleDeps): Role {
  const { config, db, log, clock } = deps;
  const { slotMs } = config;
  const model = createReadModel({ lifetimeMs: config.statusLifetimeMs });
  const ledger = createLedger();
  const onRows = (rows: Parameters<typeof model.apply>[0]): void => {
    model.apply(rows, clock());
    ledger.apply(rows);
  };
  const follower = createFollower({ db, config, log, clock, onRows });
  const more = { ...deps, model, ledger, follower };
  const slots = oncePerSlot([createDumpDuty(more), createSetsDuty(more), createModelDuty(more)]);
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
function oncePerSlot(steps: readonly Duty[]) {
  let lastSlot = -1;
  let running: Promise<void> = Promise.resolve();

  const runSteps = async (): Promise<void> => {
    const faults: unknown[] = [];
    for (const step of steps) await step().catch((error: unknown) => faults.push(error));
    if (faults.length > 0) throw faults[0];
  };

  return {
    /** Does the work of a time slot once; rejects when it failed, and then the next slot tries again. */
    run(slot: number): Promise<void> {
      if (slot <= lastSlot) return running;
      lastSlot = slot;
      running = running.catch(() => {}).then(runSteps);
      return running;
    },
    /** Resolves when nothing runs. */
    idle: (): Promise<void> => running.catch(() => {}),
  };
}
