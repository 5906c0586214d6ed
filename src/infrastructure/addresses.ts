import { BlockList, isIP } from "node:net";

/** Addresses and CIDR blocks to look an address up in. */
export interface AddressSet {
  has(address: string): boolean;
}

/** The set of `entries` (`10.0.0.0/8`, `::1`, …). Entries that are neither address nor block match nothing. */
export function addressSet(entries: readonly string[]): AddressSet {
  // The usual case, asked at every request.
  if (entries.length === 0) return { has: () => false };
  const list = new BlockList();
  for (const entry of entries) {
    const [text = "", bits, more] = entry.trim().split("/");
    const address = plainAddress(text);
    const family = isIP(address);
    if (family === 0 || more !== undefined) continue;
    const type = family === 4 ? "ipv4" : "ipv6";
    if (bits === undefined) list.addAddress(address, type);
    else if (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)) {
      list.addSubnet(address, Number(bits), type);
    }
  }
  return {
    has: (address) => {
      const family = isIP(address);
      return family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
    },
  };
}

const plainIpv4 = /^[\d.]+$/;

/** An address without brackets, zone and the `::ffff:` of an IPv4 peer on an IPv6 socket. */
export function plainAddress(text: string): string {
  // The usual form, asked at every request.
  if (plainIpv4.test(text)) return text;
  const address = text
    .trim()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/%.*$/, "");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}

/**
 * The viewer's address: the socket's, or, as long as the nearest hop is a trusted proxy, the one that this
 * proxy added to X-Forwarded-For. What stands further left was written by the viewer and is not believed.
 */
export function viewerAddress(
  peer: string,
  forwarded: string | undefined,
  trusted: AddressSet,
): string {
  let address = plainAddress(peer);
  if (!trusted.has(address)) return address;
  const hops = (forwarded ?? "").split(",").map((hop) => plainAddress(withoutPort(hop.trim())));
  while (trusted.has(address)) {
    const hop = hops.pop();
    if (hop === undefined || isIP(hop) === 0) break;
    address = hop;
  }
  return address;
}

/** What one viewer can hold: an IPv4 address, or an IPv6 /64, whose lower half a viewer may change at will. */
export function viewerNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(Math.max(gap, 0)).fill("0"), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}

const withoutPort = (hop: string): string =>
  hop.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1").replace(/^\[(.*)\]:\d+$/, "$1");
