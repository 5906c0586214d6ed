import { Router } from "@koa/router";
import { decodePart } from "#src/contract/query.ts";
import type { BaseRoute, RoutePath } from "#api/http/route.ts";
import { refused } from "#api/http/errors.ts";
import type { Context, Middleware, State } from "#api/http/context.ts";
import { validate } from "#api/http/validate.ts";

/** Something to be checked before a handler runs; it throws a refusal. */
export type Check<Route extends BaseRoute> = (
  ctx: Context,
  routePath: RoutePath<Route> | undefined,
  /** Undefined when the path has no such method. */
  route: Route | undefined,
) => Promise<void> | void;

export interface Mounted<Route extends BaseRoute> {
  /** The path that all routes begin with: `/api/v1/partner`. */
  base: string;
  routes: readonly Route[];
  /** Checks of every request below `base`, in this order, known path or not. */
  checks: readonly Check<Route>[];
  /** Calls the route's handler. */
  call(route: Route, ctx: Context): Promise<void> | void;
  /** Answers OPTIONS with the methods of the path. */
  offersOptions?: boolean;
  /** Answers a browser's preflight, which no check could let through. False when the request is none. */
  preflight?(ctx: Context, routePath: RoutePath<Route> | undefined): boolean;
  /** The detail of the 404 for a path that no route has. */
  unknownPath: string;
}

/**
 * Mounts routes on a router: checks, validation, handler. The second middleware answers requests without a route: 404
 * for an unknown path, 405 for a method that the path does not have, both after the same checks (decisions 3).
 */
export function mount<Route extends BaseRoute>(
  mounted: Mounted<Route>,
): {
  matched: Middleware;
  unmatched: Middleware;
} {
  const { base, routes, checks, call, offersOptions = false, preflight, unknownPath } = mounted;
  const router = new Router<State>({ prefix: base, sensitive: true, strict: true });
  const routePaths = routePathsOf(base, routes, offersOptions);

  const runChecks = async (
    ctx: Context,
    routePath: RoutePath<Route> | undefined,
    route: Route | undefined,
  ): Promise<void> => {
    ctx.state.routePath = routePath;
    for (const check of checks) {
      const checked = check(ctx, routePath, route);
      // Most checks are done at once: waiting for them would cost a turn of the promise queue each.
      if (checked !== undefined) await checked;
    }
  };

  // A fixed part wins over a parameter: the first route that fits a path takes it.
  for (const route of [...routes].sort((a, b) => parametersIn(a) - parametersIn(b))) {
    const routePath = routePaths.get(koaPath(base, route.path));
    const method = route.method.toLowerCase() as "get" | "post" | "patch" | "delete";
    const { readQuery, readBody } = validate(route);
    const isOpen = route.path.includes("{");
    // One middleware: each further one costs a request half a microsecond.
    router[method](koaPath("", route.path), async (ctx, next) => {
      // A path that is written out is no value of a parameter, also where it lacks the method.
      if (isOpen && routePaths.has(ctx["newRouterPath"] ?? ctx.path)) {
        await next();
        return;
      }
      // The query is read first, because an answer may be looked for while the request is counted.
      const refusal = readQuery(ctx);
      ctx.state.isInvalid = refusal !== null;
      await runChecks(ctx, routePath, route);
      if (refusal !== null) throw refusal;
      if (readBody !== undefined) await readBody(ctx);
      await call(route, ctx);
    });
  }

  const unmatched: Middleware = async (ctx, next) => {
    const path = ctx["newRouterPath"] ?? ctx.path;
    if (path !== base && !path.startsWith(`${base}/`)) {
      await next();
      return;
    }
    const [layer] = (ctx["matched"] as { path: string }[] | undefined) ?? [];
    const routePath = layer === undefined ? undefined : routePaths.get(layer.path);
    if (ctx.method === "OPTIONS" && preflight?.(ctx, routePath) === true) return;
    await runChecks(ctx, routePath, undefined);
    if (routePath === undefined) throw refused("not-found", unknownPath);
    const headers = { Allow: routePath.allow };
    if (!offersOptions || ctx.method !== "OPTIONS")
      throw refused("method-not-allowed", `Use one of: ${routePath.allow}.`, { headers });
    ctx.set(headers);
    ctx.status = 204;
  };
  return { matched: routesOf(router), unmatched };
}

/** A router's middleware. Its own type demands a context that only a router makes. */
export const routesOf = (router: Router<State>): Middleware =>
  router.routes() as unknown as Middleware;

/** Places by the path as the router writes it. */
function routePathsOf<Route extends BaseRoute>(
  base: string,
  routes: readonly Route[],
  offersOptions: boolean,
): Map<string, RoutePath<Route>> {
  const byPath = new Map<string, Route[]>();
  for (const route of routes) byPath.set(route.path, [...(byPath.get(route.path) ?? []), route]);
  return new Map(
    [...byPath].map(([template, own]) => {
      const methods = own.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
      const allow = [...methods, ...(offersOptions ? ["OPTIONS"] : [])].join(", ");
      const labels = new Map(methods.map((method) => [method, `${method} ${template}`]));
      return [koaPath(base, template), { template, routes: own, allow, labels }];
    }),
  );
}

const parametersIn = ({ path }: BaseRoute): number => path.split("{").length;

const koaPath = (base: string, path: string): string => base + path.replaceAll(/\{(\w+)\}/g, ":$1");

/**
 * A path as the router should read it: fixed parts may be percent-encoded as well, and wrong encoding is
 * left for the checks that come before (422 only where the path would match).
 */
export function routingPath(path: string): { path: string; broken: boolean } {
  if (!path.includes("%")) return { path, broken: false };
  const parts = path.split("/").map(decodePart);
  const raw = path.split("/");
  const encoded = parts.map((part, i) => (part === null ? raw[i]! : encodeURIComponent(part)));
  return { path: encoded.join("/"), broken: parts.includes(null) };
}
