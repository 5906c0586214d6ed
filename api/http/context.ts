import type { Router } from "@koa/router";
import type Koa from "koa";
import type { Span } from "#src/infrastructure/tracing.ts";
import type { RoutePath } from "#api/http/route.ts";
import type { CacheLookup } from "#snapshots/rectangles/rectangle-store.ts";
import type { Taken } from "#src/limits/meter.ts";
import type { ProblemCode } from "#src/contract/refusals.ts";
import type { QuotaDecision } from "#src/limits/limiter.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";

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
