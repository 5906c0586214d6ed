import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createApp } from "#api/http/app.ts";
import { route } from "#api/http/route.ts";
import { createServices, type Services } from "#api/http/services.ts";
import { markInOneTransaction } from "#bench/rivals/one-transaction.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { orThrow } from "#api/http/errors.ts";
import { parseReport, reportBody } from "#src/contract/report.ts";
import { createLog } from "#src/infrastructure/log.ts";

// The rival of `npm run bench -- marks`: what a team would write first. The same checks of request, key and limits
// by the same steps; then the mark's whole way in one transaction in the handler, without batches and queue.
const config = loadConfig();
const log = createLog(config, "rival");
const made = createServices(config, { log });
// What the product's web process would follow stays as it is: this one asks Postgres.
const services: Services = { ...made, follower: { ...made.follower, loaded: () => true } };
const { db, redis, clock } = services;

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
