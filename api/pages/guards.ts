import { refused } from "#api/http/errors.ts";
import { minuteLimit } from "#api/http/minute-limit.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { apiBase, type Context, type Middleware } from "#api/http/route.ts";
import { isSameServer } from "#src/contract/hosts.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { ownTurn } from "#src/infrastructure/turns.ts";

/**
 * The guard of every call of a page that changes something: throws unless one of our own pages sent it. The header
 * Sec-Fetch-Site decides; older browsers and plain http send only `Origin`, which must be that of BASE_URL or of the
 * host that was called.
 */
export function refuseForeign({ req }: Context, { baseUrl }: Pick<Config, "baseUrl">): void {
  const { origin, host, "sec-fetch-site": site } = req.headers;
  const isOwn = site === undefined ? isOwnOrigin(origin, host, baseUrl) : site === "same-origin";
  if (isOwn) return;
  const detail = `Only the pages of this service may send this. Open them at ${baseUrl}.`;
  throw refused("cross-site-request", detail);
}

/** Throws unless the request says that it carries JSON, which no form of a foreign page can send. */
export function demandJson({ req }: Context): void {
  if (!/^application\/json *(;|$)/i.test(req.headers["content-type"] ?? ""))
    throw refused("unsupported-media-type", "Send `Content-Type: application/json`.");
}

function isOwnOrigin(
  origin: string | undefined,
  host: string | undefined,
  baseUrl: string,
): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  return isSameServer(page, new URL(baseUrl)) || (host !== undefined && page.host === host);
}

export function networkLimit(
  services: Pick<PageDeps, "clock">,
  perMinute: number,
  what: string,
): (ip: string, share?: number) => void {
  const count = minuteLimit(services, what);
  return (ip, share = 1) => count(viewerNetwork(ip), share, perMinute);
}

/** Not counted: probes of load balancers and monitors. What lies below the API is counted by its own checks. */
const uncounted = new RegExp(`^/(healthz|readyz|metrics)$|^${apiBase}(?!/openapi)`);
/** Shares of a page that is made: files and calls with a limit of their own, and land that is cut (decisions 8.45). */
const cheap =
  /^\/(assets|basemap|pictures|(console|dashboard)\/api)\/|^\/docs\/.+\.(md|py)$|^\/[\w-]+\.(js|txt|tgz|webmanifest)$|^\/\.well-known\/|openapi/;
const shareOf = (path: string): number =>
  path.startsWith("/basemap/land/") ? 0.2 : cheap.test(path) ? 0.1 : 1;

/**
 * The limit of all that needs no key, for one network. It comes before every page. Each turn of the event loop makes one
 * page, so that those of a minute that come at once hold up nobody else.
 */
export function pagesLimit(services: Pick<PageDeps, "config" | "clock">): Middleware {
  const count = networkLimit(services, services.config.pagesPerMinute, "pages");
  return async (ctx, next) => {
    if (!uncounted.test(ctx.path)) {
      const share = shareOf(ctx.path);
      count(ctx.state.ip, share);
      if (share === 1) await ownTurn();
    }
    await next();
  };
}

/** Counts an attempt to sign in from `ip`; throws a refusal (429) when its network has used up its attempts of the minute. */
export const signInLimit = (services: Pick<PageDeps, "config" | "clock">) =>
  networkLimit(services, services.config.signInsPerMinute, "attempts to sign in");
