import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { createFollower } from "#src/feed/follower.ts";
import { createIdTable } from "#src/feed/id-table.ts";
import { createAliasWatch } from "#src/import/alias-watch.ts";
import { tellContent } from "#snapshots/content.ts";
import { createLedger } from "#snapshots/dumps/model-snapshot.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { createDutyWorker, type Role, type RoleDeps, whileTrusted } from "#workers/role.ts";
import { createCanary } from "#workers/snapshots/canary.ts";
import { createChanceFollower } from "#workers/snapshots/chances.ts";
import { createInsightsDuty } from "#workers/snapshots/insights.ts";
import { createModelDuty } from "#workers/snapshots/model-snapshot.ts";
import { createDumpDuty, createSetsDuty } from "#workers/snapshots/dumps.ts";

/**
 * The snapshots role: keeps a read model of its own, and stores the dumps and the model snapshot from it, on the
 * clock's jobs.
 */
export function createSnapshotsRole(deps: RoleDeps): Role {
  const { config, db, log, clock, time } = deps;
  const { statusLifetimeMs: lifetimeMs, plainBytes } = config;
  const ids = createIdTable();
  const model = createReadModel({ lifetimeMs, plainBytes, inIdOrder: true, ids });
  const ledger = createLedger();
  const onRows = (rows: Parameters<typeof model.apply>[0]): void => {
    model.apply(rows, clock());
    ledger.apply(rows);
  };
  const follower = createFollower({ ...deps, onRows, ids, inIdOrder: true });
  const aliases = createAliasWatch({ db, config, log, learn: model.brands.learn });
  deps.peers.tell(() => ({ seq: follower.seq() }));
  time.onStepBack(() => follower.forget(model.rewind(clock())));
  tellContent({ peers: deps.peers, model, follower, clock });
  const more = { ...deps, model, ledger, follower };
  const chances = config.chance ? createChanceFollower(deps, shippedNumbers, ids) : null;
  let before: Promise<unknown> = Promise.resolve();
  /** One at a time: they share the model's thread and the two threads that compress. */
  const inTurn = (duty: () => Promise<unknown>) => (): Promise<unknown> => {
    const run = before.then(whileTrusted(deps, duty));
    before = run.catch(() => undefined);
    return run;
  };
  const worker = createDutyWorker(
    deps,
    "snapshots",
    {
      dump: inTurn(createDumpDuty(more)),
      sets: inTurn(createSetsDuty(more)),
      model: inTurn(createModelDuty(more)),
      insights: inTurn(createInsightsDuty(more)),
      canary: whileTrusted(deps, createCanary({ ...more, ids })),
    },
    // The canary mostly waits for a web process, beside one other.
    { concurrency: 2, lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 10 },
  );

  return {
    start: async () => {
      await Promise.all([follower.start(), aliases.start()]);
      worker.run();
      // Its first look may read the marks of three days.
      void chances?.start();
    },
    stop: async () => {
      await chances?.stop();
      await worker.close();
      await Promise.all([follower.stop(), aliases.stop()]);
    },
  };
}
