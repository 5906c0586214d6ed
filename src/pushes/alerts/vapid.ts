import { createECDH, createHmac, hkdfSync } from "node:crypto";
import type { Config } from "#src/infrastructure/config.ts";

const curve = "prime256v1";

/** The service's pair of keys for push services (RFC 8292), base64url: 65 and 32 bytes. */
export interface VapidKeys {
  publicKey: string;
  privateKey: string;
}

/**
 * The pair is made from the pepper, so that it is the same in every process and after a restart or a move
 * (decisions 15.26). One draw in four thousand million is not a key of the curve; then the next one is taken.
 */
export function vapidKeys(pepper: string): VapidKeys {
  for (let draw = 0; ; draw += 1) {
    const drawn = hkdfSync("sha256", pepper, "", `key for push services ${draw}`, 32);
    const privateKey = Buffer.from(drawn);
    const pair = createECDH(curve);
    try {
      pair.setPrivateKey(privateKey);
    } catch {
      continue;
    }
    return {
      publicKey: pair.getPublicKey("base64url", "uncompressed"),
      privateKey: privateKey.toString("base64url"),
    };
  }
}

/** The contact for push services: PUSH_CONTACT, else the service itself. Apple's refuses localhost. */
export function pushContact({ pushContact: set, baseUrl }: Config): string {
  if (set !== "") return set;
  return baseUrl.startsWith("https:") ? baseUrl : `mailto:operator@${new URL(baseUrl).hostname}`;
}

/** True if a browser's keys can be used to encrypt: a point of the curve, and 16 bytes. */
export function areKeysUsable({ p256dh, auth }: { p256dh: string; auth: string }): boolean {
  const pair = createECDH(curve);
  pair.generateKeys();
  try {
    const point = Buffer.from(p256dh, "base64url");
    return pair.computeSecret(point).length > 0 && Buffer.from(auth, "base64url").length === 16;
  } catch {
    return false;
  }
}

/** The proof that a call to stop an alert comes from its driver. */
export const stopToken = (pepper: string, alertId: number): string =>
  createHmac("sha256", pepper).update(`stop alert\0${alertId}`).digest("base64url").slice(0, 22);
