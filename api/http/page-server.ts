import type { IncomingMessage } from "node:http";
import Koa from "koa";
import type { Page } from "#api/http/app.ts";
import type { Answer, State } from "#api/http/context.ts";
import { serveHealth } from "#api/http/health.ts";
import { explain } from "#api/http/explain.ts";
import { respond } from "#api/http/respond.ts";
import { serveOpenApi } from "#api/openapi/serve.ts";
import { serveProblemPages } from "#api/pages/problem-pages.ts";
import type { Route } from "#api/http/route.ts";
import { apiBase } from "#api/http/router.ts";
import type { Services } from "#api/http/services.ts";
import { refuse } from "#src/contract/refusals.ts";

/** Everything beside the API's routes: Koa and its middleware, asked in this order. What is left goes to `callApi`. */
export function createPageServer(
  services: Services,
  routes: readonly Route[],
  pages: readonly Page[],
  callApi: (state: State) => Promise<void>,
): (state: State) => void {
  const states = new WeakMap<IncomingMessage, State>();
  const app = new Koa<State>();
  app.on("error", (error: Error) => services.log.error({ error: error.message }, "answer failed"));
  app.use((ctx, next) => {
    ctx.state = states.get(ctx.req) as State;
    ctx.set("X-Request-Id", ctx.state.requestId);
    ctx.set("X-Content-Type-Options", "nosniff");
    return next();
  });
  app.use(sendPage(services));
  app.use(serveHealth(services.health));
  app.use(serveProblemPages(services.config));
  app.use(serveOpenApi(services.config, routes));
  for (const page of pages) app.use(page);
  app.use((ctx) => {
    const { path } = ctx.state;
    if (path !== apiBase && !path.startsWith(`${apiBase}/`)) return noPage;
    ctx.respond = false;
    return callApi(ctx.state);
  });
  const handle = app.callback();
  return (state) => {
    states.set(state.req, state);
    void handle(state.req, state.res);
  };
}

const noPage = refuse("not-found", `No such page. The API is below ${apiBase}.`);

/** Sends what a page gives back; one that writes for itself says so by `ctx.respond = false`. */
function sendPage(services: Services): Page {
  const send = respond(services);
  const answerError = explain(services);
  return async (ctx, next) => {
    let answer: Answer | undefined;
    try {
      answer = await next();
      if (answer === undefined && ctx.respond !== false && ctx.body == null && ctx.status === 404)
        answer = noPage;
    } catch (error) {
      answer = answerError(ctx.state, error);
    }
    if (answer === undefined) return undefined;
    // Koa would drop or add headers of its own.
    ctx.respond = false;
    if (ctx.res.headersSent) ctx.res.destroy();
    else await send(ctx.state, answer);
    return undefined;
  };
}
