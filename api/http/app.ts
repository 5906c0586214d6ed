import Koa from "koa";
import { apiChecks } from "#api/http/middleware.ts";
import { createPreflight } from "#api/http/cors.ts";
import { identify } from "#api/http/identify.ts";
import { mount } from "#api/http/register-routes.ts";
import { refused } from "#api/http/errors.ts";
import { respond } from "#api/http/respond.ts";
import { apiBase, type ApiContext, type Route } from "#api/http/route.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import type { Middleware, State } from "#api/http/context.ts";

/**
 * The web role's application. This list is the order of its middleware: the partner API comes before the pages, which
 * need no key and are not metered; of the pages only openapi.json lies below the API's base.
 */
export function createApp(
  services: HttpDeps,
  routes: readonly Route[],
  pages: readonly Middleware[] = [],
): Koa<State> {
  const app = new Koa<State>();
  app.on("error", (error: Error) => services.log.warn({ error: error.message }, "answer failed"));
  const api = mount<Route>({
    base: apiBase,
    routes,
    checks: apiChecks(services),
    call: (route, ctx) => route.handle(ctx as ApiContext),
    offersOptions: true,
    preflight: createPreflight(services),
    unknownPath: "No such path. Paths are case-sensitive and end without a slash.",
  });
  app.use(identify(services));
  app.use(respond(services));
  app.use(api.matched);
  for (const page of pages) app.use(page);
  app.use(api.unmatched);
  app.use(() => {
    throw refused("not-found", `No such page. The API is below ${apiBase}.`);
  });
  return app;
}
