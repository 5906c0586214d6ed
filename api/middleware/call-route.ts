import { bodyLimitDefault, readBody } from "#api/body.ts";
import type { Context, Step } from "#api/context.ts";
import type { Match } from "#api/router.ts";
import type { ApiRequest, Route } from "#api/route.ts";
import { queryReader, type QueryReader } from "#api/query-reader.ts";
import { refuse, type Problem } from "#src/domain/problems.ts";
import type { KeyInfo } from "#src/keys.ts";
import { compileCheck, type Check } from "#src/validation.ts";

interface Ready {
  route: Route;
  readQuery: QueryReader;
  checkBody: Check | null;
}

/** Checks path, query and body against the route's schemas (422) and calls it. The innermost step. */
export function callRoute(routes: readonly Route[]): Step {
  const ready = new Map<Route, Ready>(
    routes.map((route) => [
      route,
      {
        route,
        readQuery: queryReader(route.query),
        checkBody: route.body === undefined ? null : compileCheck(route.body, "body"),
      },
    ]),
  );
  return async (ctx) => {
    const { place, params } = ctx.state.match as Match;
    const method = ctx.method === "HEAD" ? "GET" : ctx.method;
    const found = ready.get(place.routes.get(method) as Route) as Ready;
    if (params === null) {
      const msg = "Broken percent-encoding or UTF-8";
      return refuse("validation-failed", [{ loc: ["path"], msg, type: "encoding" }]);
    }
    const query = found.readQuery(ctx.state.search);
    if (query.faults !== undefined) return refuse("validation-failed", query.faults);
    const body = await bodyOf(ctx, found);
    if (body.refused !== undefined) return body.refused;
    const request: ApiRequest = {
      key: ctx.state.key as KeyInfo,
      params,
      query: query.values,
      body: body.value,
      headers: ctx.req.headers,
      method: ctx.method,
      requestId: ctx.state.requestId,
      arrivedAt: ctx.state.arrivedAt,
      ip: ctx.state.ip,
      seq: ctx.state.grant?.seq ?? null,
      dailyRemaining: ctx.state.grant?.dailyRemaining ?? 0,
    };
    return found.route.handle(request);
  };
}

async function bodyOf(
  ctx: Context,
  { route, checkBody }: Ready,
): Promise<{ value: unknown; refused?: Problem }> {
  if (checkBody === null) return { value: undefined };
  const read = await readBody(ctx.req, route.bodyLimit ?? bodyLimitDefault);
  if (read.refused !== undefined) return { value: undefined, refused: read.refused };
  const faults = checkBody(read.value);
  if (faults === null) return { value: read.value };
  return { value: undefined, refused: refuse("validation-failed", faults) };
}
