import type { Services } from "#api/services.ts";
import type { Context, Step } from "#api/context.ts";
import { routeLabel } from "#api/metrics.ts";
import { withoutKeys } from "#src/key-text.ts";

const pathMax = 200;
const probes = new Set(["/healthz", "/readyz"]);

/**
 * One line for each request when it is over, and its count. Only what is named here: no headers, no query, no bodies.
 */
export function logAccess({ log, metrics }: Services): Step {
  return (ctx, next) => {
    const level = probes.has(ctx.state.path) ? "debug" : "info";
    const startedAt = performance.now();
    ctx.res.once("close", () => {
      const ms = performance.now() - startedAt;
      metrics.finished(routeLabel(ctx.state), ctx.res.statusCode, ms);
      if (log.isLevelEnabled(level)) log[level](lineOf(ctx, ms), "request");
    });
    return next();
  };
}

function lineOf(ctx: Context, ms: number): object {
  const { requestId, path, match, key } = ctx.state;
  return {
    request_id: requestId,
    method: ctx.method,
    path: withoutKeys(path).slice(0, pathMax),
    route: match?.place.template,
    status: ctx.res.statusCode,
    ms: Math.round(ms * 10) / 10,
    bytes: Number(ctx.res.getHeader("Content-Length") ?? 0) || undefined,
    partner: key?.partnerId,
    key: key?.id,
    aborted: ctx.res.writableFinished ? undefined : true,
  };
}
