import { ageOf, isYoung, isStaleBeside } from "#src/domain/age.ts";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type Koa from "koa";
import { createApp } from "#api/http/app.ts";
import { createPages, createRoutes } from "#api/http/routers.ts";
import type { Middleware, State, Route } from "#api/http/route.ts";
import { createApiServer, type ServerTimes } from "#api/http/server.ts";
import { createServices, type ServiceParts, type Services } from "#api/http/services.ts";
import { createStartUp } from "#api/start-up.ts";
import { urlsOf } from "#src/infrastructure/addresses.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createParts } from "#src/infrastructure/parts.ts";
import { createPolled } from "#src/infrastructure/polled.ts";

export interface Web {
  app: Koa<State>;
  server: Server;
  services: Services;
  /** Begins to listen, and resolves when everything can be answered. Rejects when the port is taken. */
  start(): Promise<{ port: number }>;
  /** Answers requests in flight, then closes everything. */
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
  const {
    aliases,
    credits,
    waiters,
    streams,
    eviction,
    damage,
    database,
    service,
    priceMedians,
    time,
    peers,
  } = services;
  const startUp = createStartUp(services);
  /** Time from which on the clock is known, ms: nothing is late before. */
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
  const conditions = {
    snapshot: startUp,
    dump: { condition: () => dumps.condition(clock()) },
    duties,
    rows: services.quarantine,
    folding: unfoldable,
    alarms,
    redis: { condition: () => ({ ok: !meter.away }) },
    ...{ database, eviction, stored: damage, proxies },
  };
  for (const [name, part] of Object.entries(conditions)) health.add(name, () => part.condition());
  // Runs when nobody asks too: else the first request would wait for all changes by the passing of time.
  const drains = createPolled({
    everyMs: config.pollMs,
    look: async () => {
      model.drain(clock());
      health.watch(log);
    },
  });
  const connections = createParts(
    { stop: () => db.destroy() },
    { stop: () => redis.disconnect() },
    ...[meter, journal, { stop: () => producer.close() }],
  );
  const authority = createParts(
    { start: () => untilReady(redis).then(time.start), stop: time.stop },
    ...[keys, usedToday],
  );
  const watches = createParts(
    ...[aliases, credits, peers, service, alarms, database, eviction, unfoldable, duties],
  );
  const reads = createParts(
    ...[priceMedians, dumps, { stop: cities.stop }, { stop: follower.stop }],
    ...[{ stop: drains.stop }, startUp],
  );
  /** To be stopped: a fault in one of them holds up no other. */
  const everything = createParts(connections, authority, watches, reads);

  const routes = (parts.routes ?? createRoutes)(services);
  const app = createApp(services, routes, (parts.pages ?? createPages)(services, routes));
  const server = createApiServer(services, app, parts.times);

  let starting: Promise<unknown> = Promise.resolve();
  const start = async (): Promise<{ port: number }> => {
    server.listen(config.port, config.host);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    peers.tell(() => ({ urls: urlsOf(config.host, port) }));
    await authority.start();
    beganAt = clock();
    // They wait for Postgres and Redis, and nobody waits for them.
    void watches.start();
    await reads.start();
    void drains.start();
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
      // A start that is not over yet could begin more, which nothing would ever stop.
      await starting;
      await everything.stop();
    },
  };
}

/** A short wait for Redis, so that the first requests are metered by it; without it they are metered here. */
async function untilReady(redis: Services["redis"]): Promise<void> {
  if (redis.status === "ready") return;
  await Promise.race([once(redis, "ready"), sleep(redisWaitMs)]).catch(() => {});
}
