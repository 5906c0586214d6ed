import type { IncomingMessage } from "node:http";
import { Router } from "@koa/router";
import { LRUCache } from "lru-cache";
import rawBody from "raw-body";
import type { TSchema } from "typebox";
import {
  decodePart,
  createQueryParser,
  listOfNames,
  type QueryType,
  type QueryValues,
} from "#src/contract/query.ts";
import type { BaseRoute, RoutePath, Context, Middleware, State } from "#api/http/route.ts";
import { refused, Refused } from "#api/http/errors.ts";
import { parseBody } from "#src/contract/json-body.ts";
import { type Fault, isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { compileCheck } from "#src/infrastructure/validation.ts";

/** Something to be checked before a handler runs; it throws a refusal. */
export type Check<Route extends BaseRoute> = (
  ctx: Context,
  routePath: RoutePath<Route> | undefined,
  /** Undefined when the path has no such method. */
  route: Route | undefined,
) => Promise<void> | void;

interface Mounted<Route extends BaseRoute> {
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
  const written = new Set(
    [...routePaths].flatMap(([path, one]) => (isOpen(one.template) ? [] : path)),
  );

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
    const hasParameter = isOpen(route.path);
    // One middleware: each further one costs a request half a microsecond.
    router[method](koaPath("", route.path), async (ctx, next) => {
      // A path that is written out is no value of a parameter, also where it lacks the method.
      if (hasParameter && written.has(ctx["newRouterPath"] ?? ctx.path)) {
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

const isOpen = (template: string): boolean => template.includes("{");

const parametersIn = ({ path }: BaseRoute): number => path.split("{").length;

const koaPath = (base: string, path: string): string => base + path.replaceAll(/\{(\w+)\}/g, ":$1");

/** Paths of routes that a parameter of another could be: `/stations/all` hides a station of that id (decisions 7.59). */
export function hidingPaths(base: string, routes: readonly BaseRoute[]): ReadonlySet<string> {
  const open = routes.map(({ path }) => path).filter(isOpen);
  const value = new RegExp(`^(${open.join("|").replaceAll(/\{\w+\}/g, "[^/]+")})$`);
  const hiding = routes.filter(({ path }) => !isOpen(path) && value.test(path));
  return new Set(hiding.map(({ path }) => base + path));
}

/**
 * A path as the router should read it: fixed parts may be percent-encoded as well, but one of `hiding`, which then is a
 * value; wrong encoding is left for the checks that come before (422 only where the path would match).
 */
export function routingPath(path: string, hiding: ReadonlySet<string>) {
  if (!path.includes("%")) return { path, broken: false };
  const raw = path.split("/");
  const parts = raw.map(decodePart);
  const encoded = parts.map((part, i) => (part === null ? raw[i]! : encodeURIComponent(part)));
  if (hiding.has(encoded.join("/"))) encoded.splice(-1, 1, raw.at(-1)!);
  return { path: encoded.join("/"), broken: parts.includes(null) };
}

/** Path and query of a target that names a host or a fragment. The URL parsers of Node throw on some targets. */
export function localTarget(target: string): string {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, "").replace(/#.*$/s, "");
  return local.startsWith("/") ? local : `/${local}`;
}

const bodyLimitDefault = 64 * 1024;

/** Checks path, query and body against the route's schemas: 413, 415 or 422 (decisions 9). */
function validate({ query, read: readValues, body, bodyLimit }: BaseRoute): {
  /** Sets `ctx.state.query`, or gives the refusal of path or query. */
  readQuery(ctx: Context): Refused | null;
  /** Sets `ctx.state.body`. Undefined when the route takes none. */
  readBody?: (ctx: Context) => Promise<void>;
} {
  const read = queryReader(query, readValues as ReadValues | undefined);
  const readQuery = ({ state, querystring }: Context): Refused | null => {
    if (state.brokenPath) return brokenPath;
    const { values, refusal, ignored } = read(querystring);
    state.ignored = ignored;
    if (refusal === null) state.query = values;
    return refusal;
  };
  if (body === undefined) return { readQuery };
  const check = compileCheck(body, "body");
  return {
    readQuery,
    async readBody({ req, state }) {
      state.body = await readBody(req, bodyLimit);
      const faults = check(state.body);
      if (faults !== null) throw invalid(faults);
    },
  };
}

const invalid = (faults: Fault[]): Refused => refused("validation-failed", faults);

const brokenPath = invalid([
  { loc: ["path"], msg: "Broken percent-encoding or UTF-8", type: "encoding" },
]);

/** Maps and mirrors send the same queries again and again. Counted by size: `max` makes all places at once, for each route. */
const keptMax = 500;
const rememberedLength = 300;

/** The `read` of a route. */
type ReadValues = (values: QueryValues) => object | Refusal;

interface ReadQuery {
  values: object;
  refusal: Refused | null;
  /** For `X-Ignored-Parameters`; "" when every parameter is known. */
  ignored: string;
}

const noQuery: ReadQuery = { values: {}, refusal: null, ignored: "" };

/**
 * A reader of query strings for a route's schema: types first, then ranges. Without a schema it checks
 * the encoding only. Results are remembered and shared, so nobody may change them.
 */
export function queryReader(
  schema: TSchema | undefined,
  readValues: ReadValues = (values) => values,
): (search: string) => ReadQuery {
  const properties = Object.entries(
    (schema as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {},
  );
  const parse = createQueryParser(
    new Map(properties.map(([name, { type = "" }]) => [name, queryTypes.get(type) ?? "string"])),
  );
  const check = schema === undefined ? null : compileCheck(schema, "query");
  const known = new LRUCache<string, ReadQuery>({ maxSize: keptMax, sizeCalculation: () => 1 });
  return (search) => {
    if (search === "" && check === null) return noQuery;
    const found = known.get(search);
    if (found !== undefined) return found;
    const parsed = parse(search);
    const faults = parsed.faults ?? check?.(parsed.values) ?? null;
    const values = faults === null ? readValues(parsed.values) : parsed.values;
    const refusal =
      faults !== null ? invalid(faults) : isRefusal(values) ? new Refused(values) : null;
    const read = { values, refusal, ignored: listOfNames(parsed.ignored) };
    if (refusal === null && search.length <= rememberedLength) known.set(search, read);
    return read;
  };
}

const queryTypes = new Map<string, QueryType>(
  (["string", "integer", "number", "boolean"] as const).map((type) => [type, type]),
);

/** Reads and parses a JSON body of at most `limit` bytes. Throws a refusal: 415, 413 or 422. */
export async function readBody(req: IncomingMessage, limit = bodyLimitDefault): Promise<unknown> {
  const { "content-type": type, "content-encoding": encoding = "identity" } = req.headers;
  if ((type !== undefined && !isJson(type)) || encoding.trim().toLowerCase() !== "identity")
    throw unsupported;
  const bytes = await collect(req, limit);
  if (type === undefined && bytes.length > 0) throw unsupported;
  const parsed = parseBody(bytes);
  if (parsed.faults !== undefined) throw invalid(parsed.faults);
  return parsed.value;
}

async function collect(req: IncomingMessage, limit: number): Promise<Buffer> {
  try {
    return await rawBody(req, { limit, length: req.headers["content-length"] ?? null });
  } catch (error) {
    // The rest is read and thrown away, so that the caller gets to see the answer.
    req.resume();
    if ((error as rawBody.RawBodyError).type === "entity.too.large")
      throw refused("body-too-large", `A body of this call may have ${limit} bytes.`);
    throw invalid([{ loc: ["body"], msg: "Body ended too early", type: "incomplete" }]);
  }
}

function isJson(contentType: string): boolean {
  const [type = "", ...parameters] = contentType
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8);
  return type === "application/json" && /^("?)utf-?8\1$/.test(charset ?? "utf-8");
}

const unsupported = refused("unsupported-media-type");
