import { Worker } from "bullmq";
import { rows } from "#src/infrastructure/db.ts";
import { dayMs } from "#src/domain/units.ts";
import { firstIdOfDay, fromMs } from "#src/marks/marks.ts";
import type { MarksJob } from "#src/infrastructure/queues.ts";
import { advanceGeneration } from "#src/feed/cache-generation.ts";
import { tellFault, type Role, type RoleDeps } from "#workers/role.ts";
import { createCoalescer } from "#workers/marks/coalesce.ts";
import { processStations, type Scope } from "#workers/marks/process.ts";
import { createStuckStations } from "#workers/marks/retry-backoff.ts";

const sweepStations = 200;
/** Jobs that one process holds, to coalesce them into few transactions. */
const jobsAtOnce = 16;

/**
 * The marks role: jobs of the `marks` queue say where to look, and every `sweepMs` it looks by itself for marks that
 * nobody has come for, so that a lost job costs time and nothing else.
 */
export function createMarksRole(deps: RoleDeps): Role {
  const { db, config, log, clock, redis, workerRedis } = deps;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | null = null;
  let rounds = 0;
  const stuckStations = createStuckStations(log, clock, config.sweepMs);

  const run = async (stationIds: readonly string[], scope?: Scope): Promise<number> => {
    const startedAt = performance.now();
    const { processed, seq, stuck } = await processStations(deps, stationIds, scope);
    stuckStations.note(stationIds, stuck);
    if (seq !== null) await advanceGeneration(redis, config.redisPrefix, seq).catch(() => {});
    if (processed > 0)
      log.info(
        { processed, stations: stationIds.length, ms: Math.round(performance.now() - startedAt) },
        "marks processed",
      );
    return processed;
  };

  const coalesce = createCoalescer(run, config.marksConcurrency);
  const worker = new Worker<MarksJob>("marks", (job) => coalesce(job.data.stationIds), {
    connection: workerRedis,
    prefix: config.redisPrefix,
    concurrency: jobsAtOnce,
    autorun: false,
    // Recovery after kill -9 took over a minute on defaults, and a second stall failed the job for good.
    lockDuration: 10_000,
    stalledInterval: 5_000,
    maxStalledCount: 100,
  });
  worker.on("error", tellFault(log));
  worker.on("failed", (job, error) =>
    log.error({ err: error.message, job: job?.id, attempt: job?.attemptsMade }, "job failed"),
  );

  const sweep = async (): Promise<void> => {
    // Each minute also where no mark should be waiting any more: in the old partitions.
    const reachMs = rounds++ % 30 === 0 ? config.retentionDays * dayMs : 3 * dayMs;
    const since = clock() - reachMs;
    const found = await rows<{ station_id: string }>(
      db,
      `select distinct station_id from marks
       where processed_at is null and failed_at is null and id >= ? and received_at < ${fromMs}
       union select station_id from station_status where refold and station_id <> all(?::text[])
       limit ${sweepStations}`,
      [firstIdOfDay(since), clock() - config.sweepMs, stuckStations.resting()],
    );
    if (found.length === 0) return;
    const processed = await run(
      found.map((row) => row.station_id),
      { since, locking: "skip" },
    );
    log.info({ processed, stations: found.length }, "sweep found work");
  };

  const tick = (): void => {
    sweeping ??= sweep()
      .catch((error: Error) => log.warn({ err: error.message }, "sweep failed, will try again"))
      .finally(() => (sweeping = null));
  };

  return {
    start: async () => {
      worker.run().catch((error: Error) => log.error({ err: error }, "worker stopped"));
      timer = setInterval(tick, config.sweepMs);
      tick();
    },
    stop: async () => {
      clearInterval(timer);
      await sweeping;
      await worker.close();
    },
  };
}
