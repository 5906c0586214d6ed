import type { Job, Queue } from "bullmq";
import { Command } from "commander";
import { choice, examples, line, verb } from "#cli/command.ts";
import { instanceConfig, withDb } from "#cli/instance.ts";
import { card, ExitError, type Output, table, time, unknown } from "#cli/output.ts";
import { withQueues } from "#cli/with-queues.ts";
import { type Backlog, listRefolds, readBacklog } from "#src/marks/backlog.ts";
import { act } from "#src/operators/act.ts";
import {
  depthOf,
  orphanedDuties,
  queueNames,
  type QueueName,
} from "#src/infrastructure/queue-state.ts";
import { dutiesOf } from "#src/infrastructure/schedule.ts";

const shownFailed = 1000;
const queueArgument = choice(queueNames);

/** `operator queues [list|failed|retry]`: waiting and failed jobs, and another try for failed ones. */
export function queuesCommand(output: () => Output): Command {
  const command = new Command("queues").description("waiting and failed jobs");

  command
    .command("list", { isDefault: true })
    .description(
      "depth, oldest age, failures and processes of each queue, and the numbers of waiting and failed marks",
    )
    .addHelpText("after", examples("queues", "queues --json"))
    .action(async () => {
      const backlog = await withDb(output(), (db) => readBacklog(db));
      const list = await withQueues(instanceConfig(output().env), async (queue) => {
        const all = [];
        for (const name of queueNames) {
          const orphaned = (await orphanedDuties(queue(name), dutiesOf(name))).join(", ");
          // Some hosts of Redis do not list its clients: bullmq throws, or makes one up, without an address.
          const workers = await queue(name)
            .getWorkers()
            .then((all) => (all.every(({ addr }) => addr) ? all.length : null))
            .catch(() => null);
          const depth = await depthOf(queue(name), Date.now());
          all.push({ queue: name, ...depth, workers, orphaned });
        }
        return all;
      });
      const { result, note } = output();
      result(
        list.map((depth) => (depth.queue === "marks" ? { ...depth, ...marksOf(backlog) } : depth)),
        () => `${table(list, "no queues")}\n\n${card(marksOf(backlog))}`,
      );
      const idle = list.filter(({ depth, workers }) => depth > 0 && workers === 0);
      if (idle.length > 0)
        note(
          `no process takes jobs of ${idle.map((one) => one.queue).join(", ")}: is its role up?`,
        );
      if (list.some(({ orphaned }) => orphaned !== ""))
        note("Redis has lost the place of some jobs; a clock makes them anew at their next slot");
      if (backlog.failed > 0)
        note("some marks failed: see `operator marks failed`, then run `marks retry ID`");
      if (backlog.refolds > 0)
        note(
          "some stations wait to be calculated again, usually for seconds; `operator queues refolds` shows them",
        );
    });

  verb(
    command,
    "refolds",
    "stations that wait to be calculated again; if one stays here, its calculation fails",
    "queues refolds",
  ).action(async () => {
    const stations = await withDb(output(), (db) => listRefolds(db, shownFailed));
    output().result(
      stations.map((station) => ({
        station_id: station.station_id,
        last_folded: time(station.updated_at),
      })),
      (list) => table(list, "no station waits to be calculated again"),
    );
  });

  verb(
    command,
    "failed",
    "failed jobs, newest first",
    "queues failed",
    "queues failed upkeep --json",
  )
    .argument("[queue]", queueNames.join(", "), queueArgument)
    .action(async (only?: QueueName) => {
      const jobs = await withQueues(instanceConfig(output().env), async (queue) => {
        const found = [];
        for (const name of only === undefined ? queueNames : [only])
          for (const job of await failedOf(queue(name))) found.push({ queue: name, ...shown(job) });
        return found;
      });
      output().result(jobs, (list) => table(list, "no job has failed"));
    });

  verb(
    command,
    "retry",
    "run one failed job, or all failed jobs of a queue, again",
    "queues retry marks --all",
  )
    .argument("<queue>", queueNames.join(", "), queueArgument)
    .argument("[job]", "the job's id", line(200, "not empty"))
    .option("--all", "all failed jobs of the queue", false)
    .action(async (name: QueueName, job: string | undefined, { all }: { all: boolean }) => {
      if ((job === undefined) === !all) throw new ExitError("name one job, or use --all");
      const out = output();
      const done: Retried = { jobs: [], missed: 0 };
      try {
        await withQueues(instanceConfig(out.env), async (queue) =>
          retry(await chosen(queue(name), job), done),
        );
      } finally {
        // Also what was done before Redis went away.
        if (done.jobs.length > 0) await logRetried(out, name, done);
      }
      const { jobs, missed } = done;
      if (job !== undefined && missed > 0) throw noFailed(name, job);
      out.result({ queue: name, retried: jobs.length, missed, jobs }, card);
    });

  return command;
}

/** Counts of marks, which a queue of wake-ups cannot show: a lost job loses no mark. */
const marksOf = ({ unprocessed, oldestS, failed, refolds }: Backlog) => ({
  unprocessed_marks: unprocessed,
  oldest_mark_age_s: oldestS,
  failed_marks: failed,
  stations_to_refold: refolds,
});

const failedOf = async (queue: Queue): Promise<Job[]> =>
  (await queue.getFailed(0, shownFailed - 1)).filter(Boolean);

const chosen = async (queue: Queue, only: string | undefined): Promise<Job[]> =>
  only === undefined ? failedOf(queue) : [await failedJob(queue, only)];

interface Retried {
  /** Their ids. */
  jobs: string[];
  /** Jobs that are gone, or that somebody else has retried meanwhile. */
  missed: number;
}

/** Runs failed jobs again, and notes each in `done`. */
export async function retry(jobs: readonly Job[], done: Retried): Promise<void> {
  for (const job of jobs)
    try {
      await job.retry("failed");
      done.jobs.push(String(job.id));
    } catch (error) {
      if (!isMissed(error)) throw error;
      done.missed += 1;
    }
}

/** JobNotExist and JobNotInState of bullmq, which is loaded only when a queue is needed. */
const isMissed = (error: unknown): boolean =>
  [-1, -3].includes((error as { code?: unknown }).code as number);

async function logRetried(out: Output, name: QueueName, { jobs }: Retried): Promise<void> {
  const details = { jobs: jobs.slice(0, 100), count: jobs.length };
  const entry = { action: "queue.retry", subject: `queue ${name}`, details };
  await withDb(out, (db) => act(db, out.actor, async () => ({ value: jobs, ...entry })));
}

async function failedJob(queue: Queue, id: string): Promise<Job> {
  const job = (await queue.getJob(id)) as Job | undefined;
  if (job === undefined || !(await job.isFailed())) throw noFailed(queue.name, id);
  return job;
}

const noFailed = (queue: string, id: string): ExitError =>
  unknown(`failed job in ${queue} with id`, id, `queues failed ${queue}`);

const shown = (job: Job) => ({
  id: String(job.id),
  name: job.name,
  attempts: job.attemptsMade,
  failed: time(job.finishedOn === undefined ? null : new Date(job.finishedOn)),
  reason: job.failedReason,
});
