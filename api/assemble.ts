import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type Koa from "koa";
import { createApp } from "#api/http/app.ts";
import { createPages, createRoutes } from "#api/http/routers.ts";
import type { Middleware, State } from "#api/http/state.ts";
import { createHealth } from "#api/http/health.ts";
import { createIntake } from "#api/marks/intake.ts";
import { createMetrics } from "#api/metrics/metrics.ts";
import { countMarks } from "#api/metrics/marks.ts";
import { createGzipListCache } from "#api/stations/gzip-list-cache.ts";
import { createRectangles } from "#api/stations/rectangles.ts";
import type { Route } from "#api/http/route.ts";
import { createApiServer, type ServerTimes } from "#api/http/server.ts";
import type { Services } from "#api/http/services.ts";
import { createStartUp } from "#api/start-up.ts";
import { createCityStore } from "#snapshots/cities.ts";
import { createLatestDump } from "#snapshots/dumps/latest-dump.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { createClock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { createFollower } from "#src/feed/follower.ts";
import { createIdTable } from "#src/feed/id-table.ts";
import { createKeyStore } from "#src/keys/key-store.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createMeter } from "#src/limits/meter.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import { createGenerationAdvancer } from "#src/feed/cache-generation.ts";
import { createUsedToday } from "#src/limits/used-today.ts";
import { createWaiters } from "#src/marks/waiters.ts";

export interface Web {
  app: Koa<State>;
  server: Server;
  services: Services;
  /** Begins to listen, and resolves when everything can be answered. Rejects when the port is taken. */
  start(): Promise<{ port: number }>;
  /** Answers what is in flight, then closes everything. */
  stop(): Promise<void>;
}

export interface WebParts {
  log?: Services["log"];
  clock?: Services["clock"];
  routes?: (services: Services) => Route[];
  pages?: (services: Services, routes: readonly Route[]) => Middleware[];
  times?: Partial<ServerTimes>;
  /** For tests: a follower of another kind. */
  follower?: typeof createFollower;
  /** For tests: what happens between the making and the storing of a rectangle. */
  beforeStore?: () => Promise<void>;
}

const redisWaitMs = 1000;
const idleCheckMs = 50;

/** Puts a web process together; several can run in one Node process. */
export function assembleWeb(config: Config, parts: WebParts = {}): Web {
  const log = parts.log ?? createLog(config, "web");
  const clock = parts.clock ?? createClock(config);
  const db = createDb(config, "web");
  const redis = createRedis(config, log);
  const keys = createKeyStore({ db, config, log, clock });
  const meter = createMeter({ redis, config, clock, log });
  const usedToday = createUsedToday({ db, config, log });
  const health = createHealth();
  const ids = createIdTable();
  const model = createReadModel({
    lifetimeMs: config.statusLifetimeMs,
    plainBytes: config.plainBytes,
    ids,
  });
  const places = model.locations;
  const cities = createCityStore({ db, config, log });
  const dumps = createLatestDump({ config, log, redis });
  const waiters = createWaiters();
  const producer = createProducer(config, log);
  const advance = createGenerationAdvancer(redis, config.redisPrefix, () => follower.seq());
  const follower = (parts.follower ?? createFollower)({
    db,
    config,
    log,
    clock,
    outcomes: {
      ids: waiters.ids,
      // Whoever gets a mark's outcome may read at once, anywhere: no rectangle from before it may be found then.
      settle: (reports) => {
        if (reports.some(({ outcome }) => outcome !== null))
          void advance().then(() => waiters.settle(reports));
      },
    },
    ids,
    onRows: (rows) => model.apply(rows, clock()),
  });
  const { beforeStore } = parts;
  const rectangles = createRectangles({ config, redis, model, follower, beforeStore });
  const metrics = createMetrics();
  const intake = countMarks(
    createIntake({ db, config, log, waiters, wake: producer.wakeMarks }),
    metrics,
  );
  const services: Services = {
    config,
    log,
    clock,
    db,
    redis,
    keys,
    meter,
    usedToday,
    health,
    model,
    cities,
    dumps,
    lists: createGzipListCache(),
    rectangles,
    advance,
    places,
    follower,
    asOf: (now) => follower.asOf(now),
    waiters,
    intake,
    producer,
    metrics,
  };

  const startUp = createStartUp(services);
  health.add("keys", () => {
    const ageMs = keys.refreshedAt === null ? null : clock() - keys.refreshedAt;
    const ok = ageMs !== null && ageMs < 3 * config.keysRefreshMs;
    return {
      ok,
      critical: keys.size === 0 && ageMs === null,
      detail: { count: keys.size, age_ms: ageMs },
    };
  });
  health.add("stations", () => {
    const readAt = follower.readAt();
    const ageMs = readAt === 0 ? null : clock() - readAt;
    const ok = ageMs !== null && ageMs < 5 * config.pollMs;
    return { ok, critical: !follower.loaded(), detail: { seq: follower.seq(), age_ms: ageMs } };
  });
  health.add("snapshot", () => startUp.condition());
  health.add("dump", () => dumps.condition(clock()));
  health.add("redis", () => ({ ok: !meter.away }));

  const routes = (parts.routes ?? createRoutes)(services);
  const app = createApp(services, routes, (parts.pages ?? createPages)(services, routes));
  const server = createApiServer(services, app, parts.times);

  let drains: NodeJS.Timeout | undefined;
  let starting: Promise<unknown> = Promise.resolve();
  const start = async (): Promise<{ port: number }> => {
    server.listen(config.port, config.host);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await Promise.all([keys.start(), usedToday.start(), untilReady(redis)]);
    await Promise.all([startUp.start(), dumps.start()]);
    // Also when nobody asks: else the first one to ask would wait for all that time has changed since.
    drains = setInterval(() => model.drain(clock()), config.pollMs).unref();
    return { port };
  };

  return {
    app,
    server,
    services,
    start: () => {
      const started = start();
      starting = started.catch(() => undefined);
      return started;
    },
    stop: async () => {
      health.stop();
      // Balancers learn meanwhile by /readyz, which the open port still answers.
      if (server.listening) await sleep(config.leaveMs);
      const closed = server.listening ? once(server, "close") : Promise.resolve();
      server.close();
      // A connection becomes idle when its answer is out: it must not hold up the stop.
      const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
      await Promise.race([closed, sleep(config.stopMs / 2, undefined, { ref: false })]);
      clearInterval(idle);
      server.closeAllConnections();
      await intake.drain();
      await startUp.stop();
      // What a start began after this would go on for ever.
      await starting;
      clearInterval(drains);
      await follower.stop();
      await cities.stop();
      await dumps.stop();
      await keys.stop();
      await usedToday.stop();
      await producer.close();
      await meter.stop();
      redis.disconnect();
      await db.destroy();
    },
  };
}

/** A short wait for Redis, so that the first requests are metered by it; without it they are metered here. */
async function untilReady(redis: Services["redis"]): Promise<void> {
  if (redis.status === "ready") return;
  await Promise.race([once(redis, "ready"), sleep(redisWaitMs)]).catch(() => {});
}
