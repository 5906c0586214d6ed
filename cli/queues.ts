import type { Job, Queue } from "bullmq";
import { Command } from "commander";
import { examples } from "#cli/examples.ts";
import { instanceConfig, withDb } from "#cli/instance.ts";
import { card, table, time, type Output } from "#cli/output.ts";
import { Refusal, unknown } from "#cli/refusal.ts";
import { choice, line } from "#cli/values.ts";
import { withQueues } from "#cli/with-queues.ts";
import { type Backlog, listRefolds, readBacklog } from "#src/marks/backlog.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { depthOf, queueNames, type QueueName } from "#src/infrastructure/queue-state.ts";

const shownFailed = 1000;
const queueArgument = choice("the queue", queueNames);

/** `operator queues [list|failed|retry]`: what waits, what failed, and another try for it. */
export function queuesCommand(output: () => Output): Command {
  const command = new Command("queues").description("work that waits or failed");

  command
    .command("list", { isDefault: true })
    .description("depth, oldest age and failures of each queue, and the marks behind them")
    .addHelpText("after", examples("queues", "queues --json"))
    .action(async () => {
      const backlog = await withDb(output(), (db) => readBacklog(db));
      const list = await withQueues(instanceConfig(output().env), async (queue) => {
        const all = [];
        for (const name of queueNames) all.push({ queue: name, ...(await depthOf(queue(name))) });
        return all;
      });
      const { result, note } = output();
      result(
        list.map((one) => (one.queue === "marks" ? { ...one, ...marksOf(backlog) } : one)),
        () => `${table(list, "no queues")}\n\n${card(marksOf(backlog))}`,
      );
      if (backlog.failed > 0) note("failed marks: `operator marks failed`, then `marks retry ID`");
      if (backlog.refolds > 0)
        note("stations to refold: gone in seconds as a rule; `operator queues refolds` shows them");
    });

  command
    .command("refolds")
    .description("stations that wait to be folded anew; one that stays has a fold that fails")
    .addHelpText("after", examples("queues refolds"))
    .action(async () => {
      const stations = await withDb(output(), (db) => listRefolds(db, shownFailed));
      output().result(
        stations.map(({ updated_at, ...one }) => ({ ...one, last_folded: time(updated_at) })),
        (list) => table(list, "no station waits to be folded anew"),
      );
    });

  command
    .command("failed")
    .description("failed jobs, newest first")
    .argument("[queue]", queueNames.join(", "), queueArgument)
    .addHelpText("after", examples("queues failed", "queues failed upkeep --json"))
    .action(async (only?: QueueName) => {
      const jobs = await withQueues(instanceConfig(output().env), async (queue) => {
        const found = [];
        for (const name of only === undefined ? queueNames : [only])
          for (const job of await failedOf(queue(name))) found.push({ queue: name, ...shown(job) });
        return found;
      });
      output().result(jobs, (list) => table(list, "no job has failed"));
    });

  command
    .command("retry")
    .description("have a failed job, or all of a queue, done again")
    .argument("<queue>", queueNames.join(", "), queueArgument)
    .argument("[job]", "its id", line("the job's id", 200, "not empty"))
    .option("--all", "all failed jobs of the queue", false)
    .addHelpText("after", examples("queues retry marks --all"))
    .action(async (name: QueueName, job: string | undefined, { all }: { all: boolean }) => {
      if ((job === undefined) === !all) throw new Refusal("name one job, or say --all");
      const { actor, result } = output();
      const retried = await withQueues(instanceConfig(output().env), (queue) =>
        retry(queue(name), job),
      );
      await withDb(output(), (db) =>
        inTransaction(db, (tx) =>
          logAction(tx, {
            actor,
            action: "queue.retry",
            subject: `queue ${name}`,
            details: { jobs: retried.slice(0, 100), count: retried.length },
          }),
        ),
      );
      result({ queue: name, retried: retried.length, jobs: retried }, card);
    });

  return command;
}

/** What a queue of wake-ups cannot show: a lost job loses no mark, so the marks themselves are counted. */
const marksOf = ({ unprocessed, oldestS, failed, refolds }: Backlog) => ({
  unprocessed_marks: unprocessed,
  oldest_mark_age_s: oldestS,
  failed_marks: failed,
  stations_to_refold: refolds,
});

const failedOf = async (queue: Queue): Promise<Job[]> =>
  (await queue.getFailed(0, shownFailed - 1)).filter(Boolean);

async function retry(queue: Queue, only: string | undefined): Promise<string[]> {
  const jobs = only === undefined ? await failedOf(queue) : [await failedJob(queue, only)];
  for (const job of jobs) await job.retry("failed");
  return jobs.map((job) => String(job.id));
}

async function failedJob(queue: Queue, id: string): Promise<Job> {
  const job = (await queue.getJob(id)) as Job | undefined;
  if (job === undefined || !(await job.isFailed()))
    throw unknown(`failed job in ${queue.name} called`, id, `queues failed ${queue.name}`);
  return job;
}

const shown = (job: Job) => ({
  id: String(job.id),
  name: job.name,
  attempts: job.attemptsMade,
  failed: time(job.finishedOn === undefined ? null : new Date(job.finishedOn)),
  reason: job.failedReason,
});
