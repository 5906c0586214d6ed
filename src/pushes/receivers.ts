import { Resolver } from "node:dns/promises";
import http, { type ClientRequest, type RequestOptions } from "node:http";
import https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { addressSet, isPublicAddress } from "#src/infrastructure/addresses.ts";
import type { Config } from "#src/infrastructure/config.ts";

/** The addresses of a host. Rejects when it has none. */
export type Resolve = (host: string) => Promise<string[]>;

const urlMax = 2000;
/** Own agents, because a proxy of the process's environment would look the host up itself, without our check. */
const agents = { "http:": new http.Agent(), "https:": new https.Agent() } as const;

/**
 * `dns.lookup` would wait in one of the four threads that also compress answers, and a stranger's name server may be
 * slow.
 */
const resolver = new Resolver({ timeout: 2000, tries: 2 });

const resolveHost: Resolve = async (host) => {
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  if (addresses.length === 0) throw new Error("The host has no address in the DNS");
  return addresses;
};

/**
 * Checks the targets of webhooks (decisions 20.7): public addresses, and the networks of WEBHOOK_NETWORKS. A host is
 * looked up when its URL is registered and again for each connection, which then goes to the addresses that were
 * checked.
 */
export function createReceivers(
  { webhookNetworks, webhookHttp }: Pick<Config, "webhookNetworks" | "webhookHttp">,
  resolve: Resolve = resolveHost,
) {
  const own = addressSet(webhookNetworks);
  const schemes = webhookHttp ? ["https:", "http:"] : ["https:"];

  /** Rejects when one of the addresses is not allowed: a name that leads to both kinds is made to deceive. */
  const addressesOf = async (host: string): Promise<string[]> => {
    const bare = host.replace(/^\[(.*)\]$/, "$1");
    const addresses = isIP(bare) === 0 ? await resolve(bare) : [bare];
    if (!addresses.every((address) => isPublicAddress(address) || own.has(address)))
      throw new Error("The host is in a private network");
    return addresses;
  };

  const lookUp = callbackify(addressesOf);
  const lookup: LookupFunction = (host, options, done) => {
    lookUp(host, (error, addresses) => {
      if (error !== null) return done(error, "", 0);
      const all = addresses.map((address) => ({ address, family: isIP(address) }));
      if (options.all === true) done(null, all);
      else done(null, all[0]!.address, all[0]!.family);
    });
  };

  return {
    addressesOf,
    /**
     * A request over a connection of its own to an address that is looked up and checked. Sockets skip that for a host
     * that is an address itself: call `addressesOf` or `read` before.
     */
    request(url: URL, options: RequestOptions): ClientRequest {
      const { request } = url.protocol === "https:" ? https : http;
      const agent = agents[url.protocol as keyof typeof agents];
      return request(url, { ...options, lookup, agent });
    },
    /** The URL in its stored form, or its fault. */
    async read(text: string): Promise<{ url: string } | { fault: string }> {
      const url = URL.canParse(text) ? new URL(text) : null;
      if (url === null || text.length > urlMax || !schemes.includes(url.protocol))
        return { fault: `URL should be absolute and begin with ${schemes.join("// or ")}//` };
      if (url.username !== "" || url.password !== "" || url.hash !== "")
        return { fault: "URL should have neither a user nor a fragment" };
      try {
        await addressesOf(url.hostname);
      } catch (error) {
        return { fault: (error as Error).message };
      }
      return { url: url.href };
    },
  };
}

const faultMax = 500;

/** The reason of a failed request. A connection to several addresses fails with one error for each of them. */
export function faultOf(error: unknown): string {
  const { message, errors } = error as Error & { errors?: Error[] };
  return (message || (errors?.[0]?.message ?? "cannot be reached")).slice(0, faultMax);
}
