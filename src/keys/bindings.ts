import { isIP } from "node:net";
import { plainAddress } from "#src/infrastructure/addresses.ts";
import { normalDomain } from "#src/contract/hosts.ts";

/** `https://Б.рф/` → `xn--90a.xn--p1ai`. A scheme, a leading `*.` and a trailing dot are understood; null for no domain. */
export function boundDomain(entry: string): string | null {
  const host = entry
    .replace(/^https?:\/\//i, "")
    .replace(/^\*\./, "")
    .replace(/\/$/, "");
  const normal = /[/@?#\\*\s]/.test(host) ? null : normalDomain(host);
  const usable = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$|^\[/;
  return normal === null || normal.length > 253 || !usable.test(normal) ? null : normal;
}

/** An address or CIDR block, IPv4 or IPv6; an IPv4 address in IPv6 clothes is undressed. Null for neither. */
export function boundAddress(entry: string): string | null {
  const [host = "", bits, more] = entry.split("/");
  const address = plainAddress(host).toLowerCase();
  const family = isIP(address);
  if (family === 0 || more !== undefined) return null;
  if (bits === undefined) return address;
  // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const length = Number(bits) - (family === 4 && host.includes(":") ? 96 : 0);
  const whole = /^\d{1,3}$/.test(bits) && length >= 0 && length <= (family === 4 ? 32 : 128);
  return whole ? `${address}/${length}` : null;
}
