import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createApp } from "#api/http/app.ts";
import { createHealth } from "#api/http/health.ts";
import { createProxyWatch } from "#api/http/proxy-watch.ts";
import { createMetrics } from "#api/metrics/metrics.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";
import { markInOneTransaction } from "#bench/rivals/one-transaction.ts";
import { createClock } from "#src/infrastructure/clock.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { orThrow } from "#api/http/errors.ts";
import { parseReport, reportBody } from "#src/contract/report.ts";
import { createKeyStore } from "#src/keys/key-store.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createMeter } from "#src/limits/meter.ts";
import { createRedis } from "#src/infrastructure/redis.ts";

// The rival of `npm run bench -- marks`: what a team would write first. The same checks of request, key and limits
// by the same steps; then the mark's whole way in one transaction in the handler, without batches and queue.
const config = loadConfig();
const log = createLog(config, "rival");
const clock = createClock(config);
const db = createDb(config, "rival");
const redis = createRedis(config, log);
const services = {
  config,
  log,
  clock,
  db,
  redis,
  keys: createKeyStore({ db, config, log, clock }),
  meter: createMeter({ redis, config, clock, log }),
  health: createHealth(),
  metrics: createMetrics(),
  proxies: createProxyWatch({ config, log }),
  usedToday: { floorOf: () => null },
  follower: { loaded: () => true },
} as unknown as Services;

const routes = [
  route({
    method: "POST",
    path: "/stations/{station_id}/report",
    access: "secret",
    summary: "Forward a mark of one of your users",
    body: reportBody,
    handle: async (ctx) => {
      const { body, key } = ctx.state;
      const parsed = orThrow(parseReport(body, clock(), config.observedAheadMs));
      const id = ctx.params["station_id"]!;
      const answer = await markInOneTransaction({ db, config }, id, {
        parsed,
        key,
        userRef: body.user_ref,
        externalId: body.external_id ?? null,
      });
      ctx.body = orThrow(answer);
    },
  }),
];

if (redis.status !== "ready") await once(redis, "ready");
await services.keys.start();
const server = createServer(createApp(services, routes).callback() as RequestListener);
server.listen(config.port, config.host);
await once(server, "listening");
log.info({ port: config.port }, "ready");
process.on("SIGTERM", () => process.exit(0));
