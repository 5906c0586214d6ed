import { bodyLimitDefault, readBody } from "#api/http/body.ts";
import type { Answer, State, Step } from "#api/http/context.ts";
import type { Match } from "#api/http/router.ts";
import type { ApiRequest, Route } from "#api/http/route.ts";
import { queryReader, type QueryReader } from "#api/http/query-reader.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";
import { compileCheck, type Check } from "#src/infrastructure/validation.ts";

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
  const refusePath: Refusal = refuse("validation-failed", [
    { loc: ["path"], msg: "Broken percent-encoding or UTF-8", type: "encoding" },
  ]);
  const withBody = async (state: State, found: Ready, request: ApiRequest): Promise<Answer> => {
    const read = await readBody(state.req, found.route.bodyLimit ?? bodyLimitDefault);
    if (read.refused !== undefined) return read.refused;
    const faults = (found.checkBody as Check)(read.value);
    if (faults !== null) return refuse("validation-failed", faults);
    return found.route.handle({ ...request, body: read.value });
  };

  return (state) => {
    const { place, params } = state.match as Match;
    const method = state.method === "HEAD" ? "GET" : state.method;
    const found = ready.get(place.routes.get(method) as Route) as Ready;
    if (params === null) return refusePath;
    const query = found.readQuery(state.search);
    if (query.faults !== undefined) return refuse("validation-failed", query.faults);
    const request: ApiRequest = {
      key: state.key as KeyInfo,
      params,
      query: query.values,
      body: undefined,
      headers: state.req.headers,
      method: state.method,
      requestId: state.requestId,
      arrivedAt: state.arrivedAt,
      ip: state.ip,
      seq: state.grant?.seq ?? null,
      dailyRemaining: state.grant?.dailyRemaining ?? 0,
    };
    return found.checkBody === null ? found.route.handle(request) : withBody(state, found, request);
  };
}
