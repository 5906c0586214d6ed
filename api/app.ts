import Koa from "koa";
import type { State, Step } from "#api/context.ts";
import { serveHealth } from "#api/health.ts";
import { admit } from "#api/middleware/admit.ts";
import { authenticate } from "#api/middleware/authenticate.ts";
import { callRoute } from "#api/middleware/call-route.ts";
import { count } from "#api/middleware/count.ts";
import { findRoute } from "#api/middleware/find-route.ts";
import { identify } from "#api/middleware/identify.ts";
import { loaded } from "#api/middleware/loaded.ts";
import { logAccess } from "#api/middleware/log-access.ts";
import { onlyApi } from "#api/middleware/only-api.ts";
import { respond } from "#api/middleware/respond.ts";
import { serveProblemPages } from "#api/problem-pages.ts";
import type { Route } from "#api/route.ts";
import { createRouter } from "#api/router.ts";
import type { Services } from "#api/services.ts";

export type App = Koa<State>;
/** A step that answers some path outside the API and lets everything else pass. */
export type Page = Step;

/**
 * The web role's request handler. This list is the order of checks of decisions.md 3, once and for all routes;
 * `pages` answer before any of it, without a key and unmetered.
 */
export function createApp(
  services: Services,
  routes: readonly Route[],
  pages: readonly Page[] = [],
): App {
  const app: App = new Koa<State>();
  app.use(identify(services));
  app.use(logAccess(services));
  app.use(respond(services));
  app.use(serveHealth(services.health));
  app.use(serveProblemPages(services.config));
  for (const page of pages) app.use(page);
  app.use(onlyApi);
  app.use(authenticate(services));
  app.use(admit(services, createRouter(routes)));
  app.use(count(services));
  app.use(loaded(services));
  app.use(findRoute);
  app.use(callRoute(routes));
  return app;
}
