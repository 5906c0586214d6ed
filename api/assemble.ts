import { ageOf, isYoung } from "#src/domain/age.ts";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type Koa from "koa";
import { createApp } from "#api/http/app.ts";
import { createPages, createRoutes } from "#api/http/routers.ts";
import type { Middleware, State } from "#api/http/state.ts";
import type { Route } from "#api/http/route.ts";
import { createApiServer, type ServerTimes } from "#api/http/server.ts";
import { createServices, type ServiceParts, type Services } from "#api/http/services.ts";
import { createStartUp } from "#api/start-up.ts";
import { isStaleBeside } from "#src/domain/authority.ts";
import type { Config } from "#src/infrastructure/config.ts";

export interface Web {
  app: Koa<State>;
  server: Server;
  services: Services;
  /** Begins to listen, and resolves when everything can be answered. Rejects when the port is taken. */
  start(): Promise<{ port: number }>;
  /** Answers what is in flight, then closes everything. */
  stop(): Promise<void>;
}

export interface WebParts extends ServiceParts {
  routes?: (services: Services) => Route[];
  pages?: (services: Services, routes: readonly Route[]) => Middleware[];
  times?: Partial<ServerTimes>;
}

const redisWaitMs = 1000;
const idleCheckMs = 50;

/** Puts a web process together; several can run in one Node process. */
export function assembleWeb(config: Config, parts: WebParts = {}): Web {
  const services = createServices(config, parts);
  const { clock, log, db, redis, keys, meter, journal, usedToday, health, proxies } = services;
  const { model, cities, dumps, duties, alarms, follower, intake, producer, unfoldable } = services;
  const { waiters, streams, eviction, damage, database, service, priceMedians, time, peers } =
    services;
  const startUp = createStartUp(services);
  /** When the time was known, ms: nothing is late before. */
  let beganAt = Infinity;
  health.add("clock", () => time.condition());
  health.add("keys", () => {
    const ageMs = keys.refreshedAt === null ? null : ageOf(keys.refreshedAt, clock());
    const ok = ageMs !== null && isYoung(ageMs, 3 * config.keysRefreshMs) && !keys.outdated();
    return {
      ok,
      critical: (keys.size === 0 && ageMs === null) || keys.outdated(),
      detail: { count: keys.size, age_ms: ageMs },
    };
  });
  health.add("stations", () => {
    const readAt = follower.readAt();
    const ageMs = readAt === 0 ? null : ageOf(readAt, clock());
    const isStale = isStaleBeside(
      Math.max(readAt, beganAt),
      peers.others().map(({ role, postgresAt }) => (role === "web" ? postgresAt : null)),
      config,
    );
    const ok = ageMs !== null && isYoung(ageMs, 5 * config.pollMs) && !isStale;
    const critical = !follower.loaded() || isStale;
    return { ok, critical, detail: { seq: follower.seq(), age_ms: ageMs, stale: isStale } };
  });
  health.add("snapshot", () => startUp.condition());
  health.add("dump", () => dumps.condition(clock()));
  health.add("duties", () => duties.condition());
  health.add("rows", () => services.quarantine.condition());
  health.add("folding", () => unfoldable.condition());
  health.add("alarms", () => alarms.condition());
  health.add("redis", () => ({ ok: !meter.away }));
  health.add("database", () => database.condition());
  health.add("eviction", () => eviction.condition());
  health.add("stored", () => damage.condition());
  health.add("proxies", () => proxies.condition());

  const routes = (parts.routes ?? createRoutes)(services);
  const app = createApp(services, routes, (parts.pages ?? createPages)(services, routes));
  const server = createApiServer(services, app, parts.times);

  let drains: NodeJS.Timeout | undefined;
  let starting: Promise<unknown> = Promise.resolve();
  const start = async (): Promise<{ port: number }> => {
    server.listen(config.port, config.host);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const timed = untilReady(redis).then(time.start);
    await Promise.all([timed, keys.start(), usedToday.start()]);
    beganAt = clock();
    duties.start();
    unfoldable.start();
    eviction.start();
    database.start();
    alarms.start();
    service.start();
    peers.start();
    await Promise.all([startUp.start(), dumps.start(), priceMedians.start()]);
    // Also when nobody asks: else the first one to ask would wait for all that time has changed since.
    drains = setInterval(() => {
      model.drain(clock());
      health.watch(log);
    }, config.pollMs).unref();
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
      // A batch may wait for longer than the stop may take.
      waiters.giveUp();
      streams.stop();
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
      await priceMedians.stop();
      await duties.stop();
      await unfoldable.stop();
      await eviction.stop();
      await database.stop();
      await alarms.stop();
      await service.stop();
      await keys.stop();
      await peers.stop();
      await time.stop();
      await usedToday.stop();
      await producer.close();
      await journal.stop();
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
