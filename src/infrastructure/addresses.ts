import ipaddr from "ipaddr.js";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { LRUCache } from "lru-cache";
import { proxyAdvice } from "#src/contract/sentences.ts";
import type { IncomingMessage } from "node:http";
import type { Condition } from "#src/infrastructure/parts.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export type AddressSet = ReturnType<typeof addressSet>;

/** The set of `entries` (`10.0.0.0/8`, `::1`, …). Entries that are neither address nor network match nothing. */
export function addressSet(entries: readonly string[]) {
  const networks = entries
    .map((entry) => networkOf(entry.trim()))
    .filter((network) => network !== null);
  return {
    has(text: string): boolean {
      // The usual case, on the path of every request.
      if (networks.length === 0) return false;
      const address = parse(text);
      return address !== null && networks.some((network) => contains(network, address));
    },
  };
}

type Network = [range: Address, bits: number];

function contains([range, bits]: Network, address: Address): boolean {
  // A wide IPv6 network such as ::/0 holds IPv4 as well, in its IPv6 form.
  const same =
    range.kind() === "ipv6" && address instanceof ipaddr.IPv4
      ? address.toIPv4MappedAddress()
      : address;
  return same.kind() === range.kind() && same.match(range, bits);
}

function networkOf(entry: string): Network | null {
  const [text = "", bits, more] = entry.split("/");
  const range = parse(text);
  if (range === null || more !== undefined) return null;
  const most = range.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return [range, most];
  // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const length = Number(bits) - (most === 32 && text.includes(":") ? 96 : 0);
  return /^\d{1,3}$/.test(bits) && length >= 0 && length <= most ? [range, length] : null;
}

/** An address or network (CIDR), IPv4 or IPv6, in its shortest form (`plainAddress`), for storage. Null for other text. */
export function boundAddress(entry: string): string | null {
  const network = networkOf(entry);
  return network && (entry.includes("/") ? network.join("/") : String(network[0]));
}

/** Without brackets and zone, and an IPv4 peer on an IPv6 socket as IPv4. Null for text that is not an address. */
function parse(text: string): Address | null {
  const bare = text
    .trim()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/%.*$/, "");
  // ipaddr.js would accept `010.1` and similar texts as addresses.
  return isIP(bare) === 0 ? null : ipaddr.process(bare);
}

const globalIpv6 = ipaddr.IPv6.parse("2000::");

/**
 * True for an address of the public internet. False for loopback, private, link-local, shared (CGNAT), unique local,
 * multicast, reserved and documentation addresses, for IPv6 forms that lead to any IPv4 address (NAT64, 6to4), and for
 * text that is not an address. An IPv4-mapped address counts as its IPv4.
 */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address === null || address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(globalIpv6, 3);
}

const plainIpv4 = /^[\d.]+$/;

/** An address in its shortest form, without brackets, zone and the `::ffff:` of an IPv4 peer; other text as it is. */
export const plainAddress = (text: string): string =>
  // The usual form, on the path of every request.
  plainIpv4.test(text) ? text : (parse(text)?.toString() ?? text.trim());

/**
 * The viewer's address: the socket's, or, as long as the nearest hop is a trusted proxy, the address that this proxy
 * added to X-Forwarded-For. The viewer can write the entries further left, so they are ignored.
 */
export function viewerAddress(
  peer: string,
  forwarded: string | undefined,
  trusted: AddressSet,
): string {
  let address = plainAddress(peer);
  if (!trusted.has(address)) return address;
  const hops = (forwarded ?? "").split(",");
  do {
    const hop = parse(withoutPort(hops.pop() ?? ""));
    if (hop === null) break;
    address = hop.toString();
  } while (trusted.has(address));
  return address;
}

const rememberedMax = 1000;
/** Strangers write this header, so long values are not kept. */
const rememberedLength = 200;

/** `viewerAddress` with a cache: behind a proxy, parsing the same header again took 4 % of a cached answer. */
export function createViewerReader(trusted: AddressSet) {
  const known = new LRUCache<string, string>({ max: rememberedMax });
  return (peer: string, forwarded: string | undefined): string => {
    const question = forwarded === undefined ? peer : `${peer} ${forwarded}`;
    const found = known.get(question);
    if (found !== undefined) return found;
    const address = viewerAddress(peer, forwarded, trusted);
    if (question.length <= rememberedLength) known.set(question, address);
    return address;
  };
}

/** The network of one viewer: an IPv4 address, or an IPv6 /64, whose lower half a viewer may change at will. */
export function viewerNetwork(address: string): string {
  const parsed = plainIpv4.test(address) ? null : parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

const withoutPort = (hop: string): string =>
  hop
    .trim()
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
    .replace(/^\[(.*)\]:\d+$/, "$1");

const peersMax = 1000;

/**
 * Reads viewers' addresses, and counts requests with a header of a proxy that is not trusted (decisions 16.22).
 * Strangers write these headers: one line in the log of a process says it, and no more.
 */
export function createProxyWatch({ config, log }: Pick<Resources, "config" | "log">) {
  const trusted = addressSet(config.trustedProxies);
  const viewerOf = createViewerReader(trusted);
  // A process behind a trusted proxy asks this at every request.
  const peers = new LRUCache<string, boolean>({ max: peersMax });
  let all = 0;
  let untrusted = 0;

  const isTrusted = (peer: string): boolean => {
    let is = peers.get(peer);
    if (is === undefined) peers.set(peer, (is = trusted.has(plainAddress(peer))));
    return is;
  };

  return {
    /** The address that may be believed. `probe`: asked by a balancer itself, so it tells nothing about proxies. */
    viewer({ socket, headers }: IncomingMessage, probe: boolean): string {
      const peer = socket.remoteAddress ?? "";
      const forwarded = headers["x-forwarded-for"] as string | undefined;
      if (!probe) {
        all += 1;
        const isForwarded = forwarded !== undefined || headers.forwarded !== undefined;
        if (isForwarded && !isTrusted(peer)) {
          if (untrusted === 0)
            log.warn(`a request has a proxy's header, not believed. ${proxyAdvice}`);
          untrusted += 1;
        }
      }
      return viewerOf(peer, forwarded);
    },
    /** For `/readyz`: a detail, never a fault, because strangers must not be able to make one. */
    condition: (): Condition => ({
      ok: true,
      ...(untrusted === 0 ? {} : { says: [{ code: "proxy-untrusted" as const, untrusted, all }] }),
    }),
  };
}

export type ProxyWatch = ReturnType<typeof createProxyWatch>;

/** Where other machines reach what listens at this host and port, the likeliest first; at least one. */
export function urlsOf(host: string, port: number): string[] {
  const own = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"))
    .map(({ address }) => address)
    .sort((a, b) => isIP(a) - isIP(b));
  const addresses = host !== "0.0.0.0" && host !== "::" ? [host] : [...own, "127.0.0.1"];
  return addresses.map((one) => `http://${isIP(one) === 6 ? `[${one}]` : one}:${port}`);
}
