import { ageOf } from "#src/domain/age.ts";
import { Counter, Gauge } from "prom-client";
import type { MetricsDeps } from "#api/metrics/deps.ts";
import {
  depthOf,
  lastFailureOf,
  type QueueDepth,
  queueNames,
} from "#src/infrastructure/queue-state.ts";
import type { WatchedDuty } from "#src/infrastructure/duty-times.ts";
import { roleOf } from "#src/infrastructure/schedule.ts";
import type { ConsoleFeed } from "#src/contract/console-imports.ts";
import { readChanceProgress } from "#src/feed/chance-levels.ts";
import { listFeeds } from "#src/import/feeds/feeds.ts";
import { readBacklog } from "#src/marks/backlog.ts";
import { countAlerts } from "#src/pushes/alerts/claims.ts";
import { oldestDay } from "#src/marks/mark-tables.ts";
import { dayS } from "#src/domain/units.ts";

/** Figures that cost a query are this old at most, however many callers there are. */
const keptMs = 10_000;
/** A value, or one for each value of the label. */
type Figures = number | Record<string, number>;
/** A value for each set of labels. */
type Labelled = readonly (readonly [labels: Record<string, string>, value: number])[];

/**
 * Registers gauges that are read only when `/metrics` is called: the state of this process, and the work that waits in
 * Redis and Postgres. Workers need no port of their own, because the work they leave undone shows here. NaN is unknown.
 */
export function registerGauges(services: MetricsDeps): void {
  const {
    config,
    metrics,
    db,
    producer,
    clock,
    follower,
    dumps,
    duties,
    unfoldable,
    meter,
    health,
  } = services;
  const { waiters, rectangles, alarms, eviction, damage, database, figuresOf, asOf, streams } =
    services;
  const { time, peers } = services;
  /** Registers a figure; where `read` gives null, the last values stay. */
  const register = (
    kind: typeof Gauge | typeof Counter,
    name: string,
    help: string,
    labelNames: string[],
    read: () => Labelled | null | Promise<Labelled | null>,
  ): void => {
    const collect = async function (this: Gauge | Counter): Promise<void> {
      const figures = await read();
      if (figures === null) return;
      // A label that is gone must not keep its last value.
      this.reset();
      for (const [labels, value] of figures)
        if (this instanceof Gauge) this.set(labels, value);
        else this.inc(labels, value);
    };
    metrics.registry.registerMetric(new kind({ name, help, labelNames, registers: [], collect }));
  };
  const gauge = (
    name: string,
    help: string,
    read: () => Figures | Promise<Figures>,
    label?: string,
  ): void =>
    register(Gauge, name, help, label === undefined ? [] : [label], async () => {
      const figures = await read();
      return typeof figures === "number" ? [[{}, figures]] : labelled(figures, label!);
    });
  const counter = (
    name: string,
    help: string,
    label: string,
    read: () => Record<string, number> | null | Promise<Record<string, number> | null>,
  ): void =>
    register(Counter, name, help, [label], async () => {
      const figures = await read();
      return figures === null ? null : labelled(figures, label);
    });

  gauge("fuelmark_ready", "1 when /readyz answers 200.", () => Number(health.report().ready));
  gauge(
    "fuelmark_change_lag_seconds",
    "How far as_of lies behind the clock; 1 to 3 when all is well.",
    () => (clock() - asOf(clock())) / 1000,
  );
  gauge(
    "fuelmark_change_read_age_seconds",
    "Time since the change feed was last read; NaN before the first time.",
    () => (follower.readAt() === 0 ? NaN : ageOf(follower.readAt(), clock()) / 1000),
  );
  gauge("fuelmark_change_seq", "Highest number of the change feed applied here.", follower.seq);
  gauge(
    "fuelmark_dump_age_seconds",
    "Age of the newest dump of the whole country; NaN without one.",
    () => (dumps.ageMs(clock()) ?? NaN) / 1000,
  );
  gauge("fuelmark_clock_trusted", "1 while this process trusts its time.", () =>
    Number(time.isTrusted()),
  );
  register(
    Gauge,
    "fuelmark_clock_offset_seconds",
    "How far the clock of Postgres or Redis is ahead of the machine of a role's process, the worst of each role.",
    ["role", "of"],
    () => {
      const worst = new Map<string, readonly [Record<string, string>, number]>();
      for (const { role, clock: ahead } of [
        { role: "web", clock: time.ahead() },
        ...peers.others(),
      ])
        for (const [of, ms] of [
          ["postgres", ahead?.postgresMs ?? null],
          ["redis", ahead?.redisMs ?? null],
        ] as const) {
          const [, known = 0] = worst.get(`${role} ${of}`) ?? [];
          if (ms !== null && Math.abs(known) <= Math.abs(ms / 1000))
            worst.set(`${role} ${of}`, [{ role, of }, ms / 1000]);
        }
      return [...worst.values()];
    },
  );
  const ofDuties = (
    name: string,
    help: string,
    read: () => Iterable<[WatchedDuty, number | null]>,
  ): void =>
    register(Gauge, name, help, ["duty", "role"], () =>
      Array.from(read(), ([duty, ms]) => [
        { duty, role: duty === "clock" ? duty : roleOf(duty) },
        (ms ?? 0) / 1000,
      ]),
    );
  ofDuties(
    "fuelmark_duty_last_success_timestamp_seconds",
    "When a periodic duty of a role last succeeded, on any process; clock: when it last enqueued one. 0 for never.",
    duties.lastSuccess,
  );
  ofDuties(
    "fuelmark_duty_period_seconds",
    "How often a periodic duty of a role should succeed.",
    duties.periods,
  );
  gauge("fuelmark_redis_away", "1 while limits hold for this process alone.", () =>
    Number(meter.away),
  );
  gauge(
    "fuelmark_redis_evicting",
    "1 when Redis would evict keys (its maxmemory-policy is not noeviction); NaN when that is not known.",
    eviction.evicts,
  );
  gauge("fuelmark_writes_refused", "1 while the database takes no writes.", () =>
    Number(database.refusal() !== null),
  );
  gauge(
    "fuelmark_collation_changed",
    "1 when the database sorts text otherwise than its indexes were made.",
    database.hasOtherCollation,
  );
  gauge("fuelmark_waiters", "Marks whose outcome somebody waits for.", () => waiters.ids().length);
  gauge("fuelmark_streams", "Open streams of changes.", () => streams.figures().open);
  gauge(
    "fuelmark_degraded",
    "1 for each part that /readyz calls degraded.",
    () => mapValues(health.report().checks, ({ ok }) => Number(!ok)),
    "part",
  );
  gauge(
    "fuelmark_pool_connections",
    "Postgres connections of this process (used, free) and who waits for one (waiting).",
    () => {
      const { totalCount, idleCount: free, waitingCount: waiting } = db.pool;
      return { used: totalCount - free, free, waiting };
    },
    "state",
  );
  gauge(
    "fuelmark_alarms_open",
    "Alarms that no operator has acknowledged.",
    () => alarms.figures()?.open ?? {},
    "kind",
  );
  gauge(
    "fuelmark_alarm_channel_failures",
    "Messages in a row that a channel for alarms could not send; 0 when all is well.",
    () => alarms.figures()?.failures ?? {},
    "channel",
  );
  gauge(
    "fuelmark_marks_held",
    "Marks that wait for a review, by the reason.",
    () => alarms.figures()?.held ?? {},
    "reason",
  );
  gauge(
    "fuelmark_busiest_source_share",
    "Share of the busiest source in the counted marks of the last hour, 0 to 1; of the newest 10,000 at most.",
    () => alarms.figures()?.busiestSourceShare ?? NaN,
  );
  register(
    Counter,
    "fuelmark_harmful_changes_total",
    "Harmful changes of what is served, by both statuses and the kind of source, counted by all processes.",
    ["from", "to", "source_kind"],
    // Unknown is no fall to 0, which Prometheus would take for a restart.
    () => alarms.figures()?.harmful.map(({ count, ...labels }) => [labels, count]) ?? null,
  );
  counter(
    "fuelmark_rectangles_total",
    "Rectangles of publishable keys that the shared cache had (hit) or did not have (miss).",
    "result",
    () => {
      const { hits: hit, misses: miss } = rectangles.served();
      return { hit, miss };
    },
  );
  counter(
    "fuelmark_stored_damaged_total",
    "What this process has read from Redis and not used, because its checksum or its form was wrong.",
    "kind",
    damage.counts,
  );
  counter(
    "fuelmark_streams_ended_total",
    "Streams that have ended: the reader left, was too slow and was cut (slow), its key is not in force any more (key), or the process stops.",
    "reason",
    () => streams.figures().ended,
  );

  const backlog = kept(() => figuresOf("backlog", keptMs, () => readBacklog(db)));
  const figureOf =
    <T>(ask: () => Promise<T | null>) =>
    (name: string, help: string, pick: (found: T) => number): void =>
      gauge(name, help, () => ask().then((found) => (found === null ? NaN : pick(found))));
  const ofMarks = figureOf(backlog);
  ofMarks(
    "fuelmark_marks_unprocessed",
    "Stored marks that no worker has processed yet.",
    ({ unprocessed }) => unprocessed,
  );
  ofMarks(
    "fuelmark_marks_oldest_age_seconds",
    "Age of the oldest of them; 0 without one.",
    ({ oldestS }) => oldestS ?? 0,
  );
  ofMarks(
    "fuelmark_marks_failed",
    "Marks set aside because they could not be processed.",
    ({ failed }) => failed,
  );
  ofMarks(
    "fuelmark_stations_to_refold",
    "Stations that wait to be folded anew; one that stays has a refold that fails.",
    ({ refolds }) => refolds,
  );

  const told = kept(() => figuresOf("fuel alerts", keptMs, () => countAlerts(db)));
  const ofAlerts = figureOf(told);
  ofAlerts("fuelmark_fuel_alerts", "What drivers want to be told of.", ({ alerts }) => alerts);
  ofAlerts(
    "fuelmark_fuel_alerts_waiting",
    "Browsers of drivers that are to be told, in pauses and at night too.",
    ({ waiting }) => waiting,
  );

  const chances = kept(() => figuresOf("chances", keptMs, () => readChanceProgress(db)));
  gauge(
    "fuelmark_chance_lag_seconds",
    "How far the chances are behind the processed marks; NaN before the first, and while CHANCE is off.",
    async () => (config.chance ? (clock() - ((await chances())?.followedAt ?? NaN)) / 1000 : NaN),
  );
  counter(
    "fuelmark_chance_steps_total",
    "Marks that were heard for the chances (marks), and levels of stations that were written (levels), by all processes.",
    "what",
    async () => {
      const found = await chances();
      return found === null ? null : { marks: found.marks, levels: found.levels };
    },
  );

  const feeds = kept(() => figuresOf("feeds", keptMs, () => listFeeds(db)));
  const ofFeeds = (name: string, help: string, pick: (feed: ConsoleFeed) => number): void =>
    gauge(
      name,
      help,
      async () => {
        const running = ((await feeds()) ?? []).filter(({ paused }) => !paused);
        return Object.fromEntries(running.map((one) => [`${one.id} ${one.source}`, pick(one)]));
      },
      "feed",
    );
  ofFeeds(
    "fuelmark_feed_failures",
    "Runs of a feed in a row without success.",
    (one) => one.failures,
  );
  ofFeeds(
    "fuelmark_feed_last_news_timestamp_seconds",
    "When a feed last brought something new, was added or resumed.",
    ({ news }) => news / 1000,
  );

  const oldest = kept(() => figuresOf("oldest day", keptMs, () => oldestDay(db)));
  gauge(
    "fuelmark_oldest_partition_age_seconds",
    "Age of the oldest day with marks, from the end of that day.",
    async () => (clock() - ((await oldest()) ?? NaN)) / 1000 - dayS,
  );
  gauge(
    "fuelmark_retention_seconds",
    "For how long marks are kept (RETENTION_DAYS).",
    () => config.retentionDays * dayS,
  );

  gauge(
    "fuelmark_stations_unfoldable",
    "Stations whose marks wait because they cannot be folded; /readyz names them.",
    () => unfoldable.count(),
  );

  gauge(
    "fuelmark_rows_unreadable",
    "Rows that this process has read and cannot use, by table; the log names them.",
    () => services.quarantine.counts(),
    "table",
  );

  const depths = kept(async () => {
    const found: Record<string, Depth> = {};
    for (const name of queueNames) {
      const queue = producer.queue(name);
      found[name] = {
        ...(await depthOf(queue, services.clock())),
        lastFailureMs: await lastFailureOf(queue),
      };
    }
    return found;
  });
  type Depth = QueueDepth & { lastFailureMs: number };
  const unknown = Object.fromEntries(queueNames.map((name) => [name, NaN]));
  const ofQueues = (name: string, help: string, pick: (depth: Depth) => number): void =>
    gauge(
      name,
      help,
      () => depths().then((found) => (found === null ? unknown : mapValues(found, pick))),
      "queue",
    );
  ofQueues("fuelmark_queue_depth", "Jobs that wait.", ({ depth }) => depth);
  ofQueues(
    "fuelmark_queue_oldest_age_seconds",
    "Age of the job that waits longest; 0 without one.",
    (depth) => depth.oldest_age_s ?? 0,
  );
  ofQueues("fuelmark_queue_active", "Jobs at work.", ({ active }) => active);
  ofQueues("fuelmark_queue_failed", "Failed jobs that are kept.", ({ failed }) => failed);
  ofQueues(
    "fuelmark_queue_last_failure_timestamp_seconds",
    "When a job last failed, of those that are kept; 0 for never.",
    ({ lastFailureMs }) => lastFailureMs / 1000,
  );
}

const labelled = (figures: Record<string, number>, label: string): Labelled =>
  Object.entries(figures).map(([part, value]) => [{ [label]: part }, value]);

const mapValues = <T>(values: Record<string, T>, pick: (value: T) => number) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, pick(value)]));

/** The answer of `ask`, shared by all callers and asked again after `keptMs`; null when it failed. */
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
