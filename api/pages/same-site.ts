import type { Context } from "#api/http/state.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { isSameServer } from "#src/contract/hosts.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";

/**
 * The guard of every call of a page that changes something: null when one of our own pages sent it. The browser's
 * word (Sec-Fetch-Site) settles it; older browsers and plain http give only `Origin`, which must be BASE_URL's or of
 * the host that was called. JSON is demanded besides, which no form of a foreign page can send.
 */
export function refuseForeign(
  { req }: Context,
  { baseUrl }: Pick<Config, "baseUrl">,
): Refusal | null {
  const { origin, host, "sec-fetch-site": site, "content-type": type = "" } = req.headers;
  const isOwn = site === undefined ? isOwnOrigin(origin, host, baseUrl) : site === "same-origin";
  if (!isOwn) {
    return refuse(
      "cross-site-request",
      `Only the pages of this service may send this. Open them at ${baseUrl}.`,
    );
  }
  if (/^application\/json *(;|$)/i.test(type)) return null;
  return refuse("unsupported-media-type", "Send `Content-Type: application/json`.");
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
