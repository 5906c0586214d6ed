import { randomUUID } from "node:crypto";
import Koa from "koa";
import { apiChecks, usageLabel } from "#api/http/middleware.ts";
import { createPreflight } from "#api/http/cors.ts";
import { hidingPaths, localTarget, mount, routingPath } from "#api/http/register-routes.ts";
import { loggedPath, refused } from "#api/http/errors.ts";
import { respond } from "#api/http/respond.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import {
  apiBase,
  type ApiContext,
  type Route,
  type Middleware,
  type State,
  type Context,
} from "#api/http/route.ts";
import { routeLabel } from "#api/metrics/metrics.ts";
import { canaryKey } from "#src/keys/canary-key.ts";
import type { Span } from "#src/infrastructure/tracing.ts";

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
  app.use(identify({ ...services, hiding: hidingPaths(apiBase, routes) }));
  app.use(respond(services));
  app.use(api.matched);
  for (const page of pages) app.use(page);
  app.use(api.unmatched);
  app.use(() => {
    throw refused("not-found", `No such page. The API is below ${apiBase}.`);
  });
  return app;
}

const pathMax = 200;
const probes = new Set(["/healthz", "/readyz"]);

/**
 * The outermost middleware: gives a request its id, its viewer's address and its path, and writes one line about it
 * and tells the journal when it is over, or when a stream has begun. No id is taken from outside. The line holds only
 * fields that are named here: no headers, query or bodies.
 */
function identify({
  log,
  metrics,
  proxies,
  journal,
  tracer,
  hiding,
}: Pick<HttpDeps, "log" | "metrics" | "proxies" | "journal" | "tracer"> & {
  hiding: ReadonlySet<string>;
}): Middleware {
  return (ctx, next) => {
    const { req, res, state } = ctx;
    const url = req.url ?? "/";
    if (!url.startsWith("/") || url.includes("#")) req.url = localTarget(url);
    const { path } = ctx;
    const routing = routingPath(path, hiding);
    if (routing.path !== path) ctx.newRouterPath = routing.path;
    state.requestId = randomUUID();
    state.arrivedAt = performance.now();
    state.brokenPath = routing.broken;
    const isProbe = probes.has(path);
    state.ip = proxies.viewer(req, isProbe);
    if (tracer !== null && !isProbe)
      state.span = tracer.start("server", ctx.method, ctx.get("traceparent"));
    const level = isProbe ? "debug" : "info";
    const over = (isAborted: boolean): void => {
      const ms = performance.now() - state.arrivedAt;
      metrics.finished(routeLabel(state, path), res.statusCode, ms);
      if (state.span !== undefined) endSpan(ctx, state.span, path);
      const { key, code, requestId, quota } = state;
      if (key !== undefined && key !== canaryKey) {
        const { statusCode: status } = res;
        journal.finished({ key, label: usageLabel(ctx), status, code, ms, requestId, quota });
      }
      if (!log.isLevelEnabled(level)) return;
      log[level](lineOf(ctx, ms, isAborted), "request");
    };
    const close = (): void => over(!res.writableFinished);
    res.on("close", close);
    state.opened = () => {
      res.off("close", close);
      over(false);
    };
    return next();
  };
}

/** Neither path nor query: they may name people and places. */
function endSpan({ method, state, res }: Context, span: Span, path: string): void {
  const { statusCode: status } = res;
  const base = path.startsWith(apiBase) ? apiBase : "";
  const route = state.routePath === undefined ? null : base + state.routePath.template;
  if (route !== null) span.rename(`${method} ${route}`);
  span.end(
    {
      "http.request.method": method,
      "http.response.status_code": status,
      ...(route === null ? {} : { "http.route": route }),
      "fuelmark.request_id": state.requestId,
    },
    status >= 500 ? String(status) : null,
  );
}

function lineOf(ctx: Context, ms: number, isAborted: boolean): object {
  const { method, state, res, response } = ctx;
  return {
    request_id: state.requestId,
    method,
    path: loggedPath(ctx).slice(0, pathMax),
    route: state.routePath?.template,
    status: res.statusCode,
    ms: Math.round(ms * 10) / 10,
    bytes: response.length,
    partner: state.key?.partnerId,
    key: state.key?.id,
    aborted: isAborted ? true : undefined,
  };
}
