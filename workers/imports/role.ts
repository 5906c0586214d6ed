import type { Job } from "bullmq";
import { renewEpoch } from "#src/feed/cache-generations.ts";
import { beginRun, endRun } from "#src/import/feeds/feed-runs.ts";
import { noteRun } from "#src/import/runs.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import type { FeedJob } from "#src/infrastructure/queues.ts";
import { createReceivers, type Resolve } from "#src/pushes/receivers.ts";
import { fetchAndImport } from "#workers/imports/run.ts";
import { removeLeftFolders } from "#workers/imports/temporary.ts";
import { createQueueWorker, type Role, type RoleDeps } from "#workers/role.ts";

/** Feeds that a process fetches at the same time. It imports them one after the other. */
const concurrency = 4;
const noteMs = 500;
const wakeStations = 200;
/** As for imports by hand: a chunk of stations may wait for the marks of a busy country. */
const patience = { lockTimeoutMs: 30_000, queryTimeoutMs: 120_000, acquireTimeoutMs: 5000 };
const connections = 3 * concurrency;

/**
 * The imports role: jobs of its queue name a feed that may be due; the duty `feeds` of upkeep finds those (decisions
 * 14.35). `resolve` is the DNS.
 */
export function createImportsRole(deps: RoleDeps, resolve?: Resolve): Role {
  const { config, log, redis } = deps;
  const db = createDb({ ...config, ...patience }, "imports", connections);
  const producer = deps.producer();
  const { feedNetworks: webhookNetworks, feedHttp: webhookHttp } = config;
  const receivers = createReceivers({ webhookNetworks, webhookHttp }, resolve);
  const stopping = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  // Without Redis the web processes drop changed rectangles by themselves.
  const renew = () => renewEpoch(redis, config.redisPrefix).catch(() => undefined);
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(() => {
      stopping.signal.throwIfAborted();
      return work().finally(() => void renew());
    });
    last = mine.catch(() => undefined);
    return mine;
  };

  const take = async ({ data: { feedId } }: Job<FeedJob>): Promise<void> => {
    await producer.feedTaken(feedId);
    const feedRun = stopping.signal.aborted ? null : await beginRun(db, feedId);
    if (feedRun === null) return;
    const startedAt = performance.now();
    let latest = { step: "", done: 0, total: null as number | null };
    const beat = setInterval(() => {
      noteRun(db, feedRun.runId, latest).catch((error: Error) =>
        log.debug({ err: error.message }, "feed"),
      );
    }, noteMs);
    const touched = (ids: string[]): void => {
      for (const some of slices(ids, wakeStations)) producer.wakeMarks(some);
    };
    const progress = (step: string, done: number, total: number | null): void =>
      void (latest = { step, done, total });
    const end = await fetchAndImport(
      { db, config, receivers, stop: stopping.signal, progress, touched, alone },
      feedRun,
    );
    clearInterval(beat);
    await endRun(db, feedRun, end);
    const line = { job: `feed ${feedId}`, result: end.state };
    const ms = Math.round(performance.now() - startedAt);
    log["fault" in end ? "warn" : "info"]({ ...line, ms }, "feed run");
  };

  const worker = createQueueWorker<FeedJob>(
    deps,
    "imports",
    take,
    (error, job) =>
      log.warn({ err: error.message, job: `feed ${job?.data.feedId}` }, "feed not served"),
    { concurrency, lockDuration: 30_000, stalledInterval: 10_000, maxStalledCount: 100 },
  );
  return {
    start: async () => {
      await removeLeftFolders();
      worker.run();
    },
    stop: async () => {
      stopping.abort();
      await worker.close();
      await db.destroy();
    },
  };
}
