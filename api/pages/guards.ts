import { refused } from "#api/http/errors.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { apiBase, type Context, type Middleware } from "#api/http/route.ts";
import { isSameServer } from "#src/contract/hosts.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createLocalLimiter, quotaDecision } from "#src/limits/limiter.ts";

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

const networksMax = 50_000;
const minutesADay = 1440;

/**
 * Counts something that a viewer at `ip` does, or `share` of it; throws a refusal (429) when its network has done it `perMinute` times
 * in the minute. Counts are in the memory of each process: a stranger must not be able to fill Redis.
 *
 * @param what the counted thing, for the refusal: `attempts to sign in`
 */
export function networkLimit(
  { clock }: Pick<PageDeps, "clock">,
  perMinute: number,
  what: string,
): (ip: string, share?: number) => void {
  const counts = createLocalLimiter(networksMax);
  const daily = perMinute * minutesADay;
  return (ip, share = 1) => {
    const nowS = clock() / 1000;
    const { granted, mn, dn } = counts.take(viewerNetwork(ip), share, perMinute, daily, nowS);
    if (granted >= share) return;
    const spent = { granted: false, rpm: perMinute, daily, mn, dn, nowS };
    const { retryAfterS } = quotaDecision(spent);
    const hit = { retryAfterS, limit: perMinute, window: "60s" };
    throw refused("rate-limit-exceeded", `Too many ${what}. Try again in ${retryAfterS} s.`, hit);
  };
}

/** Not counted: probes of load balancers and monitors. What lies below the API is counted by its own checks. */
const uncounted = new RegExp(`^/(healthz|readyz|metrics)$|^${apiBase}(?!/openapi)`);
/** Answers that cost a twentieth of a page that is made, or less: files, tiles, and calls that have a limit of their own. */
const cheap = /\.\w+$|^\/(assets|basemap|pictures|(console|dashboard)\/api|alerts|suggestions)\//;
const cheapShare = 0.05;

/** The limit of all that needs no key, for one network. It comes before every page. */
export function pagesLimit(services: Pick<PageDeps, "config" | "clock">): Middleware {
  const count = networkLimit(services, services.config.pagesPerMinute, "pages");
  return (ctx, next) => {
    if (!uncounted.test(ctx.path)) count(ctx.state.ip, cheap.test(ctx.path) ? cheapShare : 1);
    return next();
  };
}

/** Counts an attempt to sign in from `ip`; throws a refusal (429) when its network has used up its attempts of the minute. */
export const signInLimit = (services: Pick<PageDeps, "config" | "clock">) =>
  networkLimit(services, services.config.signInsPerMinute, "attempts to sign in");
