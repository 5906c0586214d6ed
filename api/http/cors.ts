import type { HttpDeps } from "#api/http/deps.ts";
import type { RoutePath, Route, Context } from "#api/http/route.ts";
import { isBoundDomain } from "#src/contract/hosts.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";

/** Headers that a page may send beside those that CORS allows to all. `X-Dry-Run` needs a secret key. */
const requestHeaders = ["Authorization", "Content-Type", "If-None-Match", "Prefer"].join(", ");

/** Headers that a page may read beside those that CORS allows to all. */
const exposedHeaders = [
  "ETag",
  "Retry-After",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-RateLimit-Daily-Limit",
  "X-RateLimit-Daily-Remaining",
  "X-Request-Id",
  "X-Service-Cache",
  "X-As-Of",
  "X-Count",
  "X-Stale-After-Hours",
  "X-Truncated",
  "X-Ignored-Parameters",
  "Preference-Applied",
  "Allow",
  "Deprecation",
  "Sunset",
].join(", ");

const preflightS = 7200;

/**
 * Answers a browser's preflight, which carries no key: any page may ask what publishable keys can call, because the
 * answer to the request itself decides who reads it (decisions 8.35). False for every other request, which goes
 * on to the checks.
 */
export const createPreflight =
  ({ meter }: Pick<HttpDeps, "meter">) =>
  (ctx: Context, routePath: RoutePath<Route> | undefined): boolean => {
    const { headers, state } = ctx;
    const { origin } = headers;
    if (origin === undefined || headers["access-control-request-method"] === undefined)
      return false;
    const open = routePath?.routes.filter(({ access }) => access === "any") ?? [];
    if (routePath === undefined || open.length === 0 || pageOf(origin) === null) return false;
    const methods = open.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    state.routePath = routePath;
    // Nobody is known yet, as with a 401.
    state.limits = meter.anonymous(viewerNetwork(state.ip));
    ctx.set({
      Allow: routePath.allow,
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Methods": methods.join(", "),
      "Access-Control-Allow-Headers": requestHeaders,
      "Access-Control-Max-Age": String(preflightS),
      Vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    });
    ctx.status = 204;
    return true;
  };

/**
 * The headers that let the page of `origin` read what `key` is answered, refusals included; undefined for a secret key
 * and for a page of a domain that the key is not bound to (decisions 8.34).
 */
export function headersForPage(
  { kind, domains }: KeyInfo,
  origin: string,
): Record<string, string> | undefined {
  if (kind !== "publishable") return undefined;
  const page = pageOf(origin);
  if (page === null || !isBoundDomain(page, domains)) return undefined;
  return { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposedHeaders };
}

/** An origin as browsers write it. Null for `null`, for other schemes and for text that no browser sends. */
function pageOf(origin: string): URL | null {
  if (!URL.canParse(origin)) return null;
  const url = new URL(origin);
  return url.origin === origin && /^https?:$/.test(url.protocol) ? url : null;
}
