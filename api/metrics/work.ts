import { Gauge } from "prom-client";
import type { Services } from "#api/http/services.ts";
import { readBacklog, type Backlog } from "#src/marks/backlog.ts";
import {
  depthOf,
  type QueueDepth,
  queueNames,
  type QueueName,
} from "#src/infrastructure/queue-state.ts";

/** Figures that cost a query are this old at most, however many look. */
const keptMs = 10_000;

/**
 * What waits for the workers, by Redis and by the only truth about marks. Workers need no port of their own: what
 * they do not do shows here. NaN while it cannot be known.
 */
export function registerWork(services: Services): void {
  const { metrics, db, producer } = services;
  const backlog = kept(() => readBacklog(db));
  const depths = kept(async () => {
    const found: [QueueName, QueueDepth][] = [];
    for (const name of queueNames) found.push([name, await depthOf(producer.queue(name))]);
    return found;
  });

  const ofMarks = (name: string, help: string, read: (backlog: Backlog) => number): void => {
    metrics.registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        async collect() {
          const known = await backlog();
          this.set(known === null ? NaN : read(known));
        },
      }),
    );
  };
  ofMarks(
    "fuelmark_marks_unprocessed",
    "Stored marks that no worker has processed yet.",
    (known) => known.unprocessed,
  );
  ofMarks(
    "fuelmark_marks_oldest_age_seconds",
    "Age of the oldest of them; 0 without one.",
    (known) => known.oldestS ?? 0,
  );
  ofMarks(
    "fuelmark_marks_failed",
    "Marks set aside because they could not be processed.",
    (known) => known.failed,
  );
  ofMarks(
    "fuelmark_stations_to_refold",
    "Stations that wait to be folded anew; one that stays has a refold that fails.",
    (known) => known.refolds,
  );

  const ofQueues = (name: string, help: string, read: (depth: QueueDepth) => number): void => {
    metrics.registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ["queue"],
        registers: [],
        async collect() {
          const known = await depths();
          for (const queue of queueNames) {
            const depth = known?.find(([found]) => found === queue)?.[1];
            this.set({ queue }, depth === undefined ? NaN : read(depth));
          }
        },
      }),
    );
  };
  ofQueues("fuelmark_queue_depth", "Jobs that wait.", ({ depth }) => depth);
  ofQueues(
    "fuelmark_queue_oldest_age_seconds",
    "Age of the job that waits longest; 0 without one.",
    (depth) => depth.oldest_age_s ?? 0,
  );
  ofQueues("fuelmark_queue_active", "Jobs at work.", ({ active }) => active);
  ofQueues("fuelmark_queue_failed", "Failed jobs that are kept.", ({ failed }) => failed);
}

/** The answer of `ask`, asked again after `keptMs`; null when it failed. Whoever comes meanwhile shares the question. */
function kept<T>(ask: () => Promise<T>): () => Promise<T | null> {
  let answer: Promise<T | null> | null = null;
  let askedAt = -Infinity;
  return () => {
    if (answer === null || performance.now() - askedAt > keptMs) {
      askedAt = performance.now();
      answer = ask().catch(() => null);
    }
    return answer;
  };
}
