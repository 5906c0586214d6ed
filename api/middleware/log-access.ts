import type { Services } from "#api/services.ts";
import type { Context, Step } from "#api/context.ts";
import { withoutKeys } from "#src/key-text.ts";

const pathMax = 200;
const probes = new Set(["/healthz", "/readyz"]);

/** One line for each request when it is over. Only what is named here: no headers, no query, no bodies. */
export function logAccess({ log }: Services): Step {
  return (ctx, next) => {
    const level = probes.has(ctx.state.path) ? "debug" : "info";
    if (!log.isLevelEnabled(level)) return next();
    const startedAt = performance.now();
    ctx.res.once("close", () => log[level](lineOf(ctx, startedAt), "request"));
    return next();
  };
}

function lineOf(ctx: Context, startedAt: number): object {
  const { requestId, path, match, key } = ctx.state;
  return {
    request_id: requestId,
    method: ctx.method,
    path: withoutKeys(path).slice(0, pathMax),
    route: match?.place.template,
    status: ctx.res.statusCode,
    ms: Math.round((performance.now() - startedAt) * 10) / 10,
    bytes: Number(ctx.res.getHeader("Content-Length") ?? 0) || undefined,
    partner: key?.partnerId,
    key: key?.id,
    aborted: ctx.res.writableFinished ? undefined : true,
  };
}
