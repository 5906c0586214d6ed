import type { Job } from "bullmq";
import { renewEpoch } from "#src/feed/cache-generations.ts";
import { beginRun, endRun, type FeedRun } from "#src/import/feeds/feed-runs.ts";
import { noteRun } from "#src/import/runs.ts";
import { createDb, patience } from "#src/infrastructure/db.ts";
import type { FeedJob } from "#src/infrastructure/queues.ts";
import { createReceivers, type Resolve } from "#src/pushes/receivers.ts";
import { fetchAndImport } from "#workers/imports/run.ts";
import { removeLeftFolders } from "#workers/imports/temporary.ts";
import { createFailingPlaces } from "#workers/failing-places.ts";
import { createQueueWorker, type Role, type RoleDeps } from "#workers/role.ts";

/** Feeds that a process fetches at the same time. It imports them one after the other. */
const concurrency = 8;

/**
 * The imports role: jobs of its queue name a feed that may be due; the duty `feeds` of upkeep finds those (decisions
 * 14.35). `resolve` is the DNS.
 */
export function createImportsRole(deps: RoleDeps, resolve?: Resolve): Role {
  const { config, log, redis } = deps;
  const db = createDb({ ...config, ...patience }, "imports", 12);
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

  const inPlace = createFailingPlaces(concurrency);
  const take = async ({ data: { feedId } }: Job<FeedJob>): Promise<void> => {
    await producer.feedTaken(feedId);
    if (!stopping.signal.aborted) await inPlace((mayFail) => beginRun(db, feedId, mayFail), run);
  };

  const run = async (feedRun: FeedRun): Promise<void> => {
    const startedAt = performance.now();
    const { progress, stop: unnote } = noteRun(db, feedRun.runId, log);
    const own = { db, config, receivers, stop: stopping.signal, progress, alone };
    const end = await fetchAndImport(
      { ...own, touched: (ids) => producer.wakeMarks(ids) },
      feedRun,
    );
    unnote();
    await endRun(db, feedRun, end);
    const line = { job: `feed ${feedRun.feedId}`, result: end.state };
    const ms = Math.round(performance.now() - startedAt);
    log["fault" in end ? "warn" : "info"]({ ...line, ms }, "feed run");
  };

  const worker = createQueueWorker<FeedJob>(deps, "imports", take, { concurrency });
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
