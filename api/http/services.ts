import { createHealth } from "#api/http/health.ts";
import { createProxyWatch } from "#src/infrastructure/addresses.ts";
import { createIntake, createWaiters } from "#api/marks/intake.ts";
import { createMetrics } from "#api/metrics/metrics.ts";
import { createListPacker } from "#api/stations/format.ts";
import { createRectangles, type Question } from "#api/stations/rectangles.ts";
import { createStreams } from "#api/stations/streams.ts";
import { createServiceWatch } from "#api/pages/status/watch.ts";
import { createAlarmWatch } from "#src/alarms/watch.ts";
import { createCityStore } from "#snapshots/cities.ts";
import { tellContent } from "#snapshots/content.ts";
import { createLatestDump } from "#snapshots/dumps/latest-dump.ts";
import { createLatestInsights } from "#snapshots/insights/latest-insights.ts";
import { createLatestMedians } from "#snapshots/insights/price-medians.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { type CacheLookup, createRectangleStore } from "#snapshots/rectangles/rectangle-store.ts";
import { createInvalidation } from "#src/feed/cache-generations.ts";
import { createFollower } from "#src/feed/follower.ts";
import { createIdTable } from "#src/feed/id-table.ts";
import { createAliasWatch } from "#src/import/alias-watch.ts";
import { createCredits } from "#src/import/source-credits.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDamageWatch } from "#src/infrastructure/checksum.ts";
import { createDatabaseWatch } from "#src/infrastructure/database-watch.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { clockAlarm, dutyAlarm, rowsAlarm } from "#src/alarms/raise.ts";
import { createDutyWatch } from "#src/infrastructure/duty-times.ts";
import { createUnfoldableWatch } from "#src/marks/unfoldable.ts";
import { createEvictionWatch } from "#src/infrastructure/eviction-watch.ts";
import { createLog, type Log } from "#src/infrastructure/log.ts";
import { createPeers } from "#src/infrastructure/peers.ts";
import { createQuarantine } from "#src/infrastructure/quarantine.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import { createServerTime } from "#src/infrastructure/server-time.ts";
import { createSharedFigures } from "#src/infrastructure/shared-figures.ts";
import type { Tracer } from "#src/infrastructure/tracing.ts";
import { createKeyStore } from "#src/keys/key-store.ts";
import { createMeter, createUsedToday } from "#src/limits/meter.ts";
import { createRequestJournal } from "#src/limits/request-journal.ts";

/** The services of one web process, for its routes and middleware. */
export type Services = ReturnType<typeof createServices>;

export interface ServiceParts {
  log?: Log;
  clock?: Clock;
  /** Null, or absent: no traces. */
  tracer?: Tracer | null;
  /** A follower of another kind, for tests. */
  follower?: typeof createFollower;
}

/** Makes the services of a web process. None of them has started. */
export function createServices(config: Config, parts: ServiceParts) {
  const log = parts.log ?? createLog(config, "web");
  const db = createDb(config, "web");
  const redis = createRedis(config, log);
  const time = createServerTime({ config, db, redis, log, onOff: clockAlarm(db, "web") });
  const clock = parts.clock ?? time.now;
  const quarantine = createQuarantine(log, rowsAlarm(db, clock));
  const ids = createIdTable();
  const { statusLifetimeMs: lifetimeMs, plainBytes } = config;
  const onUnknownZone = (reason: string): void =>
    log.warn({ reason }, "this Node does not know a time zone: opening hours there are unknown");
  const model = createReadModel({ lifetimeMs, plainBytes, ids, onUnknownZone });
  const waiters = createWaiters();
  const producer = createProducer(config, log, clock);
  const { redisPrefix: prefix } = config;
  const invalidation = createInvalidation({ redis, prefix, log });
  const rectangleStore = createRectangleStore(redis, prefix, config.cacheBytes);
  /** Keeps `model` up to date. */
  const follower = (parts.follower ?? createFollower)({
    db,
    config,
    log,
    clock,
    quarantine,
    outcomes: {
      ids: waiters.ids,
      // The receiver of an outcome may read at once, from any process: it must not find an older rectangle then.
      settle: (reports) => {
        if (reports.some(({ outcome }) => outcome !== null))
          void invalidation.publish().then((isDone) => isDone && waiters.settle(reports));
      },
    },
    ids,
    onRows: (rows) => {
      // The first load is followed by a renewal.
      if (follower.loaded()) invalidation.announce(rows, ({ id }) => model.locations.find(id));
      model.apply(rows, clock());
    },
    onReload: invalidation.renewSoon,
  });
  const metrics = createMetrics();
  const database = createDatabaseWatch({ config, log, db, redis });
  const peers = createPeers({ role: "web", config, log, clock, db, redis });
  const keys = createKeyStore({ db, config, log, clock, quarantine, redis, peers });
  peers.tell(() => ({ seq: follower.seq(), keysAt: keys.refreshedAt, clock: time.ahead() }));
  time.onStepBack(() => follower.forget(model.rewind(clock())));
  tellContent({ peers, model, follower, clock });
  const { wakeMarks: wake } = producer;
  const meter = createMeter<Question, CacheLookup>({
    ...{ redis, config, clock, log },
    lookUp: async (questions) => {
      if (!invalidation.isCurrent()) return [];
      const found = await rectangleStore.lookUp(questions);
      // Another node of a cluster may have answered, which lacks the last generations.
      return invalidation.isCurrent() ? found : [];
    },
  });
  const asOf = (now: number): number => follower.asOf(now);
  const shared = {
    config,
    log,
    clock,
    db,
    redis,
    quarantine,
    meter,
    follower,
    /** The cursor of decisions 7 in ms, a whole second. */
    asOf,
    dumps: createLatestDump({ config, log, clock, redis, asOf }),
    /** Times of the last success of the workers' duties. */
    duties: createDutyWatch({ config, log, clock, redis }, dutyAlarm(db, clock)),
    /** Whether Postgres takes writes, and sorts as it did. */
    database,
    figuresOf: createSharedFigures(redis, prefix),
    /** Facts of the other processes: their cursor, the age of their keys, their clock. */
    peers,
  };
  return {
    ...shared,
    tracer: parts.tracer ?? null,
    time,
    keys,
    /** The last requests and their results, for the partner's dashboard. */
    journal: createRequestJournal({ redis, config, clock, log, note: meter.note }),
    /** The usage of today that is in Postgres, by partner. */
    usedToday: createUsedToday({ db, config, log }),
    health: createHealth(),
    proxies: createProxyWatch({ config, log }),
    /** All stations as they are served. */
    model,
    cities: createCityStore({ db, config, log, quarantine }),
    /** Tells the model which spellings are one brand. */
    aliases: createAliasWatch({ db, config, log, learn: model.brands.learn }),
    /** The credits of the stations' sources. */
    credits: createCredits({ db, config, log }),
    /** Stations by city and day. */
    insights: createLatestInsights({ config, log, redis }),
    /** Median prices of each grade around a place. */
    priceMedians: createLatestMedians({ config, log, clock, redis }),
    /** Stations that the marks workers cannot fold. */
    unfoldable: createUnfoldableWatch({ config, log, clock, redis }),
    /** Redis' policy for a full memory. */
    eviction: createEvictionWatch({ log, redis }),
    /** Entries of Redis that were found damaged. */
    damage: createDamageWatch({ log, redis }),
    /** Alarms for the operator, and what leads to them. */
    alarms: createAlarmWatch(shared),
    lists: createListPacker(),
    rectangles: createRectangles({ config, clock, store: rectangleStore, follower }),
    /** Open streams of changes. */
    streams: createStreams({ model, asOf: follower.asOf, keys, config, clock, log }),
    invalidation,
    /** The state of the service, for `/status`. */
    service: createServiceWatch(shared),
    /** Requests that wait for the outcome of a mark. */
    waiters,
    intake: createIntake({
      ...{ db, config, log, clock, waiters, wake },
      counted: (admission) => {
        metrics.marked(admission);
        if (admission?.kind === "accepted") database.wrote();
      },
    }),
    producer,
    metrics,
  };
}
