import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createApp, type App, type Page } from "#api/app.ts";
import { createHealth } from "#api/health.ts";
import { createPages } from "#api/pages.ts";
import type { Route } from "#api/route.ts";
import { createRoutes } from "#api/routes.ts";
import { createApiServer, type ServerTimes } from "#api/server.ts";
import type { Services } from "#api/services.ts";
import { createClock } from "#src/clock.ts";
import type { Config } from "#src/config.ts";
import { createDb } from "#src/db.ts";
import { createKeyStore } from "#src/key-store.ts";
import { createLog } from "#src/log.ts";
import { createMeter } from "#src/meter.ts";
import { createRedis } from "#src/redis.ts";

export interface Web {
  app: App;
  server: Server;
  services: Services;
  /** Begins to listen. Rejects when the port is taken. */
  start(): Promise<{ port: number }>;
  /** Answers what is in flight, then closes everything. */
  stop(): Promise<void>;
}

export interface WebParts {
  log?: Services["log"];
  clock?: Services["clock"];
  routes?: (services: Services) => Route[];
  pages?: (services: Services) => Page[];
  times?: Partial<ServerTimes>;
}

const redisWaitMs = 1000;

/** Puts a web process together; several can run in one Node process. */
export function assembleWeb(config: Config, parts: WebParts = {}): Web {
  const log = parts.log ?? createLog(config, "web");
  const clock = parts.clock ?? createClock(config);
  const db = createDb(config, "web");
  const redis = createRedis(config, log);
  const keys = createKeyStore({ db, config, log, clock });
  const meter = createMeter({ redis, config, clock, log });
  const health = createHealth();
  const services: Services = { config, log, clock, db, redis, keys, meter, health };

  health.add("keys", () => {
    const ageMs = keys.refreshedAt === null ? null : clock() - keys.refreshedAt;
    const ok = ageMs !== null && ageMs < 3 * config.keysRefreshMs;
    return { ok, critical: ageMs === null, detail: { count: keys.size, age_ms: ageMs } };
  });
  health.add("redis", () => ({ ok: !meter.away }));

  const routes = (parts.routes ?? createRoutes)(services);
  const app = createApp(services, routes, (parts.pages ?? createPages)(services));
  app.on("error", (error: Error) => log.error({ error: error.message }, "answer failed"));
  const server = createApiServer(services, app.callback(), parts.times);

  return {
    app,
    server,
    services,
    start: async () => {
      await Promise.all([keys.start(), untilReady(redis)]);
      server.listen(config.port, config.host);
      await once(server, "listening");
      return { port: (server.address() as AddressInfo).port };
    },
    stop: async () => {
      health.stop();
      const closed = server.listening ? once(server, "close") : Promise.resolve();
      server.close();
      server.closeIdleConnections();
      await Promise.race([closed, sleep(config.stopMs / 2, undefined, { ref: false })]);
      server.closeAllConnections();
      await keys.stop();
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
