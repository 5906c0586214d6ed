import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

export type KeyKind = "secret" | "publishable";

/** Prefixes tell the kinds apart. An operator's key opens the console, never the API. */
const prefixes = { secret: "svc_live_", publishable: "pk_live_", operator: "op_live_" } as const;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// 62^43 > 2^256 and 62^6 > 2^32: both parts have a fixed width.
const randomWidth = 43;
const checksumWidth = 6;
const form = /^(?:svc_live_|pk_live_)[0-9A-Za-z]{49}$/;
const operatorForm = /^op_live_[0-9A-Za-z]{49}$/;

/**
 * The text of a new key (decisions 8): prefix, 32 random bytes in base62, 6 characters of checksum.
 * `random` is exactly 32 bytes from a cryptographic source. Throws on any other length.
 */
export function newKey(kind: KeyKind | "operator", random: Uint8Array): string {
  if (random.length !== 32) throw new Error("a key needs 32 random bytes");
  const number = BigInt(`0x${Buffer.from(random).toString("hex")}`);
  const body = prefixes[kind] + base62(number, randomWidth);
  return body + checksum(body);
}

/** SHA-256 of a key's text as 64 hexadecimal digits: the only form in which a key is stored. */
export const hashKey = (text: string): string => hash("sha256", text, "hex");

/** False for a text that cannot be a key, so that a typing error costs no look-up. */
export const isKeyText = (text: string): boolean => form.test(text) && hasChecksum(text);

/** The same of an operator's key. */
export const isOperatorKeyText = (text: string): boolean =>
  operatorForm.test(text) && hasChecksum(text);

/** The start of a key that may be shown later, to tell keys apart: `svc_live_Ab12`. */
export const keyPrefix = (text: string): string => text.slice(0, text.indexOf("live_") + 9);

const hasChecksum = (text: string): boolean =>
  checksum(text.slice(0, -checksumWidth)) === text.slice(-checksumWidth);

const checksum = (body: string): string => base62(BigInt(crc32(body)), checksumWidth);

function base62(number: bigint, width: number): string {
  let text = "";
  for (let rest = number; rest > 0n; rest /= 62n) text = alphabet[Number(rest % 62n)] + text;
  return text.padStart(width, "0");
}
