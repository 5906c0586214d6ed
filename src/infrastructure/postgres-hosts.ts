/** The values of libpq's `target_session_attrs` that a URL may have. */
const sessionAttrs = ["any", "primary", "read-write"];

/**
 * The addresses that a Postgres URL names: `postgres://user@one,two:5433/fuelmark`. With several hosts, or by
 * `target_session_attrs`, only the primary is wanted. Throws an Error that names the expected form.
 */
export function parseHosts(url: string): { urls: string[]; primaryOnly: boolean } {
  const [, before = "", hosts = "", rest = ""] =
    /^([a-z]+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? [];
  const attrs = /[?&]target_session_attrs=([^&]*)/.exec(rest)?.[1];
  if (attrs !== undefined && !sessionAttrs.includes(attrs))
    throw new Error(`a URL whose target_session_attrs is one of ${sessionAttrs.join(", ")}`);
  // pg would mistake it for one of its own settings.
  const plain = rest.replace(/([?&])target_session_attrs=[^&]*&?/, "$1").replace(/[?&]$/, "");
  const list = hosts.split(",");
  if (list.length > 1 && list.includes("")) throw new Error("a URL without an empty host");
  const urls = list.map((host) => `${before}${host}${plain}`);
  return { urls, primaryOnly: attrs === undefined ? urls.length > 1 : attrs !== "any" };
}

/** Chooses the address to try next: the one that worked last, until it fails. */
export function createHosts(url: string) {
  const { urls, primaryOnly } = parseHosts(url);
  let at = 0;
  return {
    primaryOnly,
    count: urls.length,
    current: (): string => urls[at]!,
    /** Moves on to the next address, unless another failure has already done so. */
    failed(tried: string): void {
      if (tried === urls[at]) at = (at + 1) % urls.length;
    },
  };
}

export type Hosts = ReturnType<typeof createHosts>;

/** The address of Postgres itself, past a pooler: for LISTEN, session locks, migrations and long commands. */
export const directUrl = (config: { databaseUrl: string; databaseDirectUrl: string }): string =>
  config.databaseDirectUrl || config.databaseUrl;
