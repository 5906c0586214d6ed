import { randomUUID } from "node:crypto";
import type { Services } from "#api/services.ts";
import type { Step } from "#api/context.ts";
import { addressSet, viewerAddress } from "#src/addresses.ts";

/** Gives every request its id, its viewer's address and its target. No id is taken from outside. */
export function identify({ config }: Services): Step {
  const trusted = addressSet(config.trustedProxies);
  return (ctx, next) => {
    const { req, state } = ctx;
    const forwarded = req.headers["x-forwarded-for"];
    state.requestId = randomUUID();
    state.arrivedAt = performance.now();
    state.ip = viewerAddress(req.socket.remoteAddress ?? "", forwarded as string, trusted);
    [state.path, state.search] = splitTarget(req.url ?? "/");
    ctx.set("X-Request-Id", state.requestId);
    ctx.set("X-Content-Type-Options", "nosniff");
    return next();
  };
}

/** Path and query of a request target, both still percent-encoded. The URL parsers of Node throw on some targets. */
export function splitTarget(target: string): [path: string, search: string] {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, "").replace(/#.*$/s, "");
  const at = local.indexOf("?");
  const path = at < 0 ? local : local.slice(0, at);
  return [path === "" ? "/" : path, at < 0 ? "" : local.slice(at + 1)];
}
