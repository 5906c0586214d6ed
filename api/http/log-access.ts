import type { State } from "#api/http/context.ts";
import { routeLabel } from "#api/metrics/metrics.ts";
import type { Services } from "#api/http/services.ts";
import { withoutKeys } from "#src/keys/key-text.ts";

const pathMax = 200;
const probes = new Set(["/healthz", "/readyz"]);

/**
 * One line for each request when it is over, and its count. Only what is named here: no headers, no query, no bodies.
 */
export function logAccess({
  log,
  metrics,
}: Pick<Services, "log" | "metrics">): (state: State) => void {
  return (state) => {
    const level = probes.has(state.path) ? "debug" : "info";
    state.res.on("close", () => {
      const ms = performance.now() - state.arrivedAt;
      metrics.finished(routeLabel(state), state.res.statusCode, ms);
      if (log.isLevelEnabled(level)) log[level](lineOf(state, ms), "request");
    });
  };
}

function lineOf({ requestId, method, path, match, key, res, bytes }: State, ms: number): object {
  return {
    request_id: requestId,
    method,
    path: withoutKeys(path).slice(0, pathMax),
    route: match?.place.template,
    status: res.statusCode,
    ms: Math.round(ms * 10) / 10,
    bytes,
    partner: key?.partnerId,
    key: key?.id,
    aborted: res.writableFinished ? undefined : true,
  };
}
