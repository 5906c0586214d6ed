import type { Static, TSchema } from "typebox";
import type { Router } from "@koa/router";
import type Koa from "koa";
import type { Answers } from "#api/openapi/answers.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";
import type { Question } from "#api/stations/rectangles.ts";
import type { CacheLookup } from "#snapshots/rectangles/rectangle-store.ts";
import type { Refusal, ProblemCode } from "#src/contract/refusals.ts";
import type { Taken } from "#src/limits/meter.ts";
import type { Span } from "#src/infrastructure/tracing.ts";
import type { QuotaDecision } from "#src/limits/limiter.ts";

/** The base of all paths of the partner API. */
export const apiBase = "/api/v1/partner";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The fields of every route, of the API and of the pages. */
export interface BaseRoute {
  method: Method;
  /** The path below the base, with parameters in braces as in OpenAPI: `/stations/{station_id}`. */
  path: string;
  query?: TSchema;
  /**
   * Turns a valid query into the value that the handler gets, or into a refusal. Pure: the result is remembered
   * with the query's text.
   */
  read?(query: never): object | Refusal;
  body?: TSchema;
  /** Largest body in bytes; 64 KiB by default. */
  bodyLimit?: number;
}

/** All routes of one path. */
export interface RoutePath<Route extends BaseRoute = BaseRoute> {
  /** The path as it is written in the routes: `/stations/{station_id}`. */
  template: string;
  routes: readonly Route[];
  /** Value of `Allow`. */
  allow: string;
  /** The labels that its requests are counted under, by method: `GET /stations`. */
  labels: ReadonlyMap<string, string>;
}

/** The keys that may call a route: any key (also publishable ones), or secret keys only (decisions 8). */
export type Access = "any" | "secret";

/** Results of the partner API's checks, set before a handler runs. */
interface Checked {
  key: KeyInfo;
  quota: Taken<CacheLookup>;
}

/** A request as its route has read it before it is counted. */
interface Sharable {
  /** The rectangle to look for in the cache; null when the answer is not shared. */
  question: Question | null;
}

/**
 * The context of a handler of the partner API: `ctx.state.query` and `.body` are what its schemas let through,
 * `ctx.state.request` is what `lookUp` has read.
 */
export type ApiContext<Query = object, Body = unknown, Request = Sharable> = RouteContext<
  Query,
  Body,
  Checked & { request?: Request | null }
>;

/**
 * A route of the partner API. Authentication, metering, validation and the shape of errors happen before and after
 * its handler, in the middleware of api/http/app.ts.
 */
export interface Route<
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Read extends object = Static<Query> & object,
  Request extends Sharable = Sharable,
> extends BaseRoute {
  method: Method;
  access: Access;
  summary: string;
  query?: Query;
  read?(query: Static<Query>): Read | Refusal;
  body?: Body;
  /** Answers for the OpenAPI document, which leaves out a route without them. */
  answers?: Answers;
  /** Query parameters that need a secret key where publishable ones may call too. */
  secretParameters?: readonly string[];
  /** Reads a request that may be answered from the cache of rectangles; called with a valid query only. */
  lookUp?(ctx: ApiContext<Read>): Request | null;
  /** Sets `ctx.body`, or throws `refused(…)`. */
  handle(ctx: ApiContext<Read, Static<Body>, Request>): Promise<void> | void;
}

/** Gives a route literal its types. */
export const route = <
  Query extends TSchema,
  Body extends TSchema,
  Read extends object = Static<Query> & object,
  Request extends Sharable = Sharable,
>(
  definition: Route<Query, Body, Read, Request>,
): Route => definition as unknown as Route;

/** A body that is made piece by piece. A piece holds until the next one is asked for. */
export interface Written {
  pieces: AsyncIterable<Buffer>;
  /** Bytes in all, where they are known beforehand. */
  length?: number;
}

/** The middleware's knowledge of a request: `ctx.state`. */
export interface State {
  requestId: string;
  /** Time of arrival on the clock of `performance.now()`, ms. */
  arrivedAt: number;
  /** The request in its trace, where there are traces. */
  span?: Span;
  /** The viewer's address as far as TRUSTED_PROXIES lets it be believed. */
  ip: string;
  /** Writes the line about the request now, while its answer goes on. */
  opened?: () => void;
  /** The percent-encoding of the path is broken: 422 where the path would match. */
  brokenPath: boolean;
  /** The routes of the path; undefined when there are none. */
  routePath?: RoutePath | undefined;
  key?: KeyInfo;
  /** The headers that let the calling page read the answer, when it may. */
  forPage?: Record<string, string> | undefined;
  /** The meter's decision about a counted request, and the result of the look-up in the cache. */
  quota?: Taken<CacheLookup>;
  /** The limits that the answer's headers tell. */
  limits?: QuotaDecision;
  /** The problem that the request is answered with. */
  code?: ProblemCode;
  /** The result of the route's `lookUp`. */
  request?: unknown;
  /** Query parameters that the route does not know, for `X-Ignored-Parameters`; "" for none. */
  ignored?: string;
  /** The query will be refused, once the request is counted. */
  isInvalid?: boolean;
  /** The query and the body after validation. */
  query?: unknown;
  body?: unknown;
  /** The signed-in account of the dashboard or the console. */
  viewer?: unknown;
  /** A long answer in pieces, in place of `ctx.body`. */
  slices?: readonly Buffer[];
  /** One whose pieces are made while it is sent. */
  written?: Written;
}

export type Context = Koa.ParameterizedContext<
  State,
  Koa.DefaultContext & { newRouterPath?: string }
>;
export type Middleware = Koa.Middleware<State>;

/** The context of a route's handler, after its checks and its validation. */
export type RouteContext<Query, Body, More = object> = Koa.ParameterizedContext<
  State & { query: Query; body: Body } & More,
  Koa.DefaultContext & { params: Record<string, string> }
>;

/** The router of the pages. */
export type PageRouter = Router<State>;
