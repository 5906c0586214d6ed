import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { State } from "#api/http/context.ts";
import type { Services } from "#api/http/services.ts";
import { addressSet, viewerAddress } from "#src/infrastructure/addresses.ts";

/** Gives every request its id, its viewer's address and its target. No id is taken from outside. */
export function identify({
  config,
}: Pick<Services, "config">): (req: IncomingMessage, res: ServerResponse) => State {
  const trusted = addressSet(config.trustedProxies);
  return (req, res) => {
    const [path, search] = splitTarget(req.url ?? "/");
    const forwarded = req.headers["x-forwarded-for"] as string | undefined;
    return {
      req,
      res,
      method: req.method ?? "GET",
      requestId: randomUUID(),
      arrivedAt: performance.now(),
      ip: viewerAddress(req.socket.remoteAddress ?? "", forwarded, trusted),
      path,
      search,
      match: undefined,
      key: undefined,
      grant: undefined,
      limits: undefined,
      bytes: undefined,
    };
  };
}

/** Path and query of a request target, both still percent-encoded. The URL parsers of Node throw on some targets. */
export function splitTarget(target: string): [path: string, search: string] {
  const local = target.startsWith("/") && !target.includes("#") ? target : bareTarget(target);
  const at = local.indexOf("?");
  const path = at < 0 ? local : local.slice(0, at);
  return [path === "" ? "/" : path, at < 0 ? "" : local.slice(at + 1)];
}

const bareTarget = (target: string): string =>
  target.replace(/^https?:\/\/[^/?#]*/i, "").replace(/#.*$/s, "");
