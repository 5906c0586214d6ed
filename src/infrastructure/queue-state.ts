import type { Job, Queue } from "bullmq";
import type { ConsoleQueue } from "#src/contract/console.ts";
import { ageOf } from "#src/domain/age.ts";

/** In a file of its own, because most commands of the command line name the queues but need no queue library. */
export const queueNames = [
  "marks",
  "snapshots",
  "upkeep",
  "webhooks",
  "alerts",
  "imports",
] as const;
export type QueueName = (typeof queueNames)[number];

/** The waiting, active and failed jobs of one queue. */
export type QueueDepth = Omit<ConsoleQueue, "queue">;

/**
 * True for a job that blocks others of its deduplication though nobody will ever take it: it is in no list, or it has
 * ended without its hash, which named the deduplication. Rejects while Redis is away.
 */
export const isOrphan = async (queue: Queue, id: string, dedupId: string): Promise<boolean> =>
  ["unknown", "completed", "failed"].includes(await queue.getJobState(id)) &&
  // A job that has just ended normally has released it.
  (await queue.getDeduplicationJobId(dedupId)) === id;

/** The duties of a queue that such a job blocks until the clock removes it. Rejects while Redis is away. */
export async function orphanedDuties(queue: Queue, duties: readonly string[]): Promise<string[]> {
  const orphaned: string[] = [];
  for (const duty of duties) {
    const id = await queue.getDeduplicationJobId(duty);
    if (id !== null && (await isOrphan(queue, id, duty))) orphaned.push(duty);
  }
  return orphaned;
}

/** Time of the last failure among the kept jobs, ms; 0 without one. Rejects while Redis is away. */
export async function lastFailureOf(queue: Queue): Promise<number> {
  const [newest] = (await queue.getFailed(0, 0)) as (Job | undefined)[];
  return newest?.finishedOn ?? 0;
}

/** The queue's depth at `now`, ms. Rejects while Redis is away. */
export async function depthOf(queue: Queue, now: number): Promise<QueueDepth> {
  const counts = await queue.getJobCounts("waiting", "active", "delayed", "failed");
  const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
  const waits: Job[] = (await queue.getJobs(["waiting", "delayed"], 0, 0, true)).filter(Boolean);
  const oldest = Math.min(...waits.map((job) => job.timestamp));
  const oldest_age_s = Number.isFinite(oldest) ? Math.floor(ageOf(oldest, now) / 1000) : null;
  return { depth: waiting + delayed, oldest_age_s, active, failed };
}
