/**
 * A domain as browsers write it: lower case, IDNA-encoded, without port and trailing dot.
 * Null when `text` names no host.
 */
export function normalDomain(text: string): string | null {
  const url = parse(`http://${text}`);
  const host = url === null ? "" : bare(url.hostname);
  return host === "" ? null : host;
}

export interface PageHeaders {
  origin?: string | undefined;
  referer?: string | undefined;
}

/**
 * True when a request of the page in `Origin`, else `Referer`, may use a key bound to `domains` (normalised;
 * docs/contract.md 5, decisions 8): without a page, from this server, or from a bound domain or its subdomain. `ownUrl`
 * is the public address of this server.
 */
export function isAllowedPage(
  headers: PageHeaders,
  domains: readonly string[],
  ownUrl: string,
): boolean {
  const page = headers.origin || headers.referer;
  if (page === undefined || page === "") return true;
  const url = parse(page);
  // `Origin: null`, and pages without a host, cannot be compared.
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  if (isSameServer(url, parse(ownUrl))) return true;
  return isBoundDomain(url, domains);
}

/** True for a page of one of `domains` (normalised) or of a subdomain. */
export function isBoundDomain({ hostname }: URL, domains: readonly string[]): boolean {
  const host = bare(hostname);
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}

/**
 * The pages that may frame a widget's page, for the content security policy: those of this server, and of `domains`
 * (normalised) with their subdomains, with either scheme and any port.
 */
export function frameAncestors(domains: readonly string[]): string[] {
  const hosts = domains
    .filter((domain) => hostSource.test(domain))
    .flatMap((domain) => (ipv4.test(domain) ? [domain] : [domain, `*.${domain}`]));
  return ["'self'", ...hosts.flatMap((host) => [`https://${host}:*`, `http://${host}:*`])];
}

// Hosts that the policy's grammar allows; IPv6 addresses are not among them.
const hostSource = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;
const ipv4 = /^\d+(\.\d+){3}$/;

const loopback = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** True for equal origins; a server that calls itself localhost also has its other loopback names. */
export function isSameServer(page: URL, own: URL | null): boolean {
  if (own === null) return false;
  if (page.origin === own.origin) return true;
  return loopback.test(own.hostname) && loopback.test(page.hostname) && page.port === own.port;
}

const bare = (hostname: string): string => hostname.replace(/\.+$/, "");

function parse(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
