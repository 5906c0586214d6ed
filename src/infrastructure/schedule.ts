import { hourMs, minuteMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { QueueName } from "#src/infrastructure/queue-state.ts";

/** A periodic duty, with the times and the queue for it. */
export interface Schedule {
  duty: DutyName;
  queue: QueueName;
  /** For node-cron, six fields: seconds first; UTC. */
  cron: string;
  /** Length of a slot, ms: all ticks of one slot are one job, also from several clocks. */
  slotMs: number;
}

const dutyQueues = {
  /** The dump of the whole country. */
  dump: "snapshots",
  /** Dumps of filter sets. */
  sets: "snapshots",
  /** The model snapshot. */
  model: "snapshots",
  /** Insights into the country, by city and day. */
  insights: "snapshots",
  /** Asks a web process for the whole country, as a partner would. */
  canary: "snapshots",
  /** Rows of changes by the passing of time. */
  instants: "upkeep",
  /** Finds out if the database is another one than before. */
  failover: "upkeep",
  /** Usage from Redis to Postgres. */
  usage: "upkeep",
  partitions: "upkeep",
  retention: "upkeep",
  /** Keys that end soon, and webhooks that nobody was woken for. */
  webhooks: "upkeep",
  /** Matches drivers' alerts, and finds those whose wake-up was lost. */
  alerts: "upkeep",
  /** Feeds that are due, and those that have brought nothing new for too long. */
  feeds: "upkeep",
  /** Judges the service, for `/status`. */
  service: "upkeep",
  /** Compares all copies of the stations. */
  sentinel: "upkeep",
} as const satisfies Record<string, QueueName>;

export type DutyName = keyof typeof dutyQueues;

/** The role that does a duty: each takes the jobs of the queue of its name. */
export const roleOf = (duty: DutyName): QueueName => dutyQueues[duty];

/** The duties of a queue. */
export const dutiesOf = (queue: QueueName): string[] =>
  Object.keys(dutyQueues).filter((duty) => roleOf(duty as DutyName) === queue);

const instantsMs = 5000;
const webhooksMs = 5000;
const alertsMs = 5000;
const feedsMs = 5000;
const failoverMs = 5000;
/** Two looks in each minute, so that a tick slightly early or late leaves no minute out. */
const serviceMs = minuteMs / 2;

export const canaryMs = 5 * minuteMs;

/**
 * All schedules. The clock runs them with node-cron and enqueues a job for each slot; the workers have no timers for
 * duties. Each duty may run twice or late. decisions 16.12 names the work that must not wait in a queue.
 */
export function schedulesOf({ slotMs, insightsMs, usageFlushMs, canary }: Config): Schedule[] {
  const schedule = (duty: DutyName, cron: string, ms: number): Schedule => ({
    ...{ duty, queue: dutyQueues[duty], cron, slotMs: ms },
  });
  return [
    // Runs first: at a first start the others take minutes for a large country, and these figures have no other source.
    schedule("insights", every(insightsMs), insightsMs),
    schedule("dump", every(slotMs), slotMs),
    schedule("sets", every(slotMs), slotMs),
    schedule("model", every(slotMs), slotMs),
    ...(canary ? [schedule("canary", "23 */5 * * * *", canaryMs)] : []),
    schedule("instants", every(instantsMs), instantsMs),
    schedule("failover", every(failoverMs), failoverMs),
    schedule("usage", every(usageFlushMs), usageFlushMs),
    schedule("partitions", "0 7 * * * *", hourMs),
    schedule("retention", "0 23 * * * *", hourMs),
    schedule("webhooks", every(webhooksMs), webhooksMs),
    schedule("alerts", every(alertsMs), alertsMs),
    schedule("feeds", every(feedsMs), feedsMs),
    schedule("service", every(serviceMs), serviceMs),
    // Some seconds after a moment of decisions 21.37, when every process has published its content.
    schedule("sentinel", "7 * * * * *", minuteMs),
  ];
}

/**
 * A cron pattern that ticks at least once in each period: whole seconds below a minute, else whole minutes. A pattern
 * cannot say 45 or 90 seconds, so it may tick more often; ticks of one slot are one job.
 */
function every(ms: number): string {
  const seconds = Math.max(1, Math.floor(ms / 1000));
  return seconds < 60
    ? `*/${seconds} * * * * *`
    : `0 */${Math.min(59, Math.floor(ms / minuteMs))} * * * *`;
}
