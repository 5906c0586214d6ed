import type { Static, TSchema } from "typebox";
import { mount } from "#api/http/register-routes.ts";
import { orThrow } from "#api/http/errors.ts";
import type { BaseRoute, Method, Context, Middleware, RouteContext } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { demandJson, networkLimit, refuseForeign } from "#api/pages/guards.ts";
import type { Refusal } from "#src/contract/refusals.ts";

/** One call of a page's script to the server. */
export interface PageCall<
  Viewer,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
> extends BaseRoute {
  /** The role that the viewer must have; the app's `admit` knows what it means. */
  role?: string;
  query?: Query;
  body?: Body;
  /** Sets `ctx.body`, or throws `refused(…)`. `ctx.state.viewer` is who is signed in; null in an open call. */
  handle(ctx: RouteContext<Static<Query>, Static<Body>, { viewer: Viewer }>): Promise<void> | void;
}

/** A call whose handler has the types of its schemas: `pageCall<Viewer>()("GET", "/keys", {}, (ctx) => …)`. */
export const pageCall =
  <Viewer>() =>
  <Query extends TSchema, Body extends TSchema>(
    method: Method,
    path: string,
    options: Pick<PageCall<Viewer, Query, Body>, "role" | "query" | "body">,
    handle: PageCall<Viewer, Query, Body>["handle"],
  ): PageCall<Viewer> =>
    ({ method, path, ...options, handle }) as unknown as PageCall<Viewer>;

export interface PageCalls<Viewer> {
  /** `/dashboard/api` */
  base: string;
  /** Calls without a session: signing in. */
  open: readonly PageCall<null>[];
  /** Calls for viewers whom `admit` lets in. */
  calls: readonly PageCall<Viewer>[];
  /** The viewer of this request, or why it is refused. */
  admit(ctx: Context, call: PageCall<Viewer>): Promise<Viewer | Refusal>;
}

/**
 * Everything below `base`: same-origin JSON calls of a page's script, unmetered. The order: 429 for a network
 * that calls without end, 404, 405, 403 for foreign pages, `admit`, 422, the call. No cache keeps anything.
 */
export function mountCalls<Viewer extends object>(
  services: Pick<PageDeps, "config" | "clock">,
  { base, open, calls, admit }: PageCalls<Viewer>,
): Middleware[] {
  const { config } = services;
  const countCall = networkLimit(services, config.pageCallsPerMinute, "calls");
  const isOpen = new Set<BaseRoute>(open);

  const limit = (ctx: Context): void => countCall(ctx.state.ip);
  const refuseOthers = (ctx: Context, _place: unknown, call: BaseRoute | undefined): void => {
    if (call === undefined || call.method === "GET") return;
    refuseForeign(ctx, config);
    demandJson(ctx);
  };
  const enter = async (ctx: Context, _place: unknown, call: BaseRoute | undefined) => {
    if (call !== undefined)
      ctx.state.viewer = isOpen.has(call)
        ? null
        : orThrow(await admit(ctx, call as PageCall<Viewer>));
  };

  const { matched, unmatched } = mount<PageCall<Viewer> | PageCall<null>>({
    base,
    routes: [...open, ...calls],
    checks: [limit, refuseOthers, enter],
    call: (call, ctx) => {
      ctx.set("Cache-Control", "no-store");
      return call.handle(ctx as never);
    },
    unknownPath: "No such call.",
  });
  return [matched, unmatched];
}

/** The same for calls that take everybody who is on one of our pages. */
export const mountOpenCalls = (
  services: Pick<PageDeps, "config" | "clock">,
  base: string,
  open: readonly PageCall<null>[],
): Middleware[] =>
  mountCalls(services, {
    ...{ base, open, calls: [] },
    admit: () => {
      throw new Error("every call is open");
    },
  });
