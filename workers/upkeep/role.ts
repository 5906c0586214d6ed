import { raiseAlarms } from "#src/alarms/raise.ts";
import { createAlarmSender } from "#src/alarms/sender.ts";
import { createDatabaseWatch } from "#src/infrastructure/database-watch.ts";
import { noteDuty } from "#src/infrastructure/duty-times.ts";
import { clearOldLevels } from "#src/feed/chance-levels.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { createDutyWorker, type Role, type RoleDeps } from "#workers/role.ts";
import { countMinute } from "#src/alarms/service/days.ts";
import { followFailover } from "#workers/upkeep/failover.ts";
import { createSentinel } from "#workers/upkeep/sentinel.ts";
import { settleTransitions } from "#workers/upkeep/transitions.ts";
import { makePartitions } from "#workers/upkeep/partitions.ts";
import { retire } from "#workers/upkeep/retention.ts";
import { flushUsage } from "#workers/upkeep/usage.ts";
import { tellExpiringKeys } from "#src/pushes/webhooks/outbox.ts";
import { matchAlerts } from "#src/pushes/alerts/matches.ts";
import { wakeDueFeeds } from "#src/import/feeds/feed-runs.ts";
import { wakeDevices } from "#src/pushes/alerts/claims.ts";
import { wakeDue } from "#src/pushes/webhooks/claims.ts";

/**
 * The upkeep role: rows of changes by the passing of time, usage, partitions, retention. It does the duties that the
 * clock enqueues, and sends alarms by itself.
 */
export function createUpkeepRole(deps: RoleDeps): Role {
  const { config, db, log, redis, clock } = deps;
  let flushedAt = -Infinity;
  const flush = (): Promise<number> => {
    flushedAt = performance.now();
    return flushUsage(deps);
  };
  /** A wiped Redis loses usage that was not flushed, so flushes need neither a queue nor the clock. */
  const flushes = createPolled({
    everyMs: config.usageFlushMs,
    look: async () => {
      if (performance.now() - flushedAt < 0.9 * config.usageFlushMs) return;
      await flush();
      await noteDuty(redis, config.redisPrefix, "usage", clock());
    },
    onError: (err) => log.debug({ err }, "usage not flushed, will try again"),
  });
  const database = createDatabaseWatch(deps, (subject) =>
    raiseAlarms(db, [{ kind: "collation-changed", subject, at: clock() }]),
  );
  const alarms = createAlarmSender({ ...deps, database });
  const worker = createDutyWorker(
    deps,
    "upkeep",
    {
      instants: async () => (await settleTransitions(deps)) + (await clearOldLevels(db)),
      failover: () => followFailover(deps),
      usage: flush,
      partitions: () => makePartitions(deps),
      retention: () => retire(deps),
      webhooks: () => wakeWebhooks(deps),
      alerts: () => wakeAlerts(deps),
      feeds: () => wakeDueFeeds(db, deps.producer()),
      service: () => countMinute(deps),
      sentinel: createSentinel(deps),
    },
    // With longer ones, duties of 5 s were late when a process was killed in one, although another stood by. A duty
    // whose job was taken again holds two places.
    { concurrency: 3, lockDuration: 5000, stalledInterval: 2500, maxStalledCount: 100 },
  );
  return {
    start: async () => {
      await makePartitions(deps);
      void flushes.start();
      void database.start();
      alarms.start();
      worker.run();
    },
    stop: async () => {
      await flushes.stop();
      await alarms.stop();
      await database.stop();
      await worker.close();
    },
  };
}

/** Wakes webhooks whose wake-up was lost, and those whose pause is over. */
async function wakeWebhooks({ db, config, producer }: RoleDeps): Promise<number> {
  await tellExpiringKeys(db);
  return wakeDue(db, producer(), config.webhookStationsGapMs);
}

/** Wakes alerts of drivers for whom a station has got their grade, and those whose pause is over. */
async function wakeAlerts({ db, config, clock, producer }: RoleDeps): Promise<number> {
  await matchAlerts(db, config, clock);
  return wakeDevices(db, producer());
}
