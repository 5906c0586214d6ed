import { createHmac, randomBytes } from "node:crypto";
import { seal, unseal } from "#src/infrastructure/seal.ts";

const textStart = "whsec_";
const secretBytes = 32;
const purpose = "secrets of webhooks";

/** The signature of Standard Webhooks: HMAC-SHA-256 over id, time (Unix seconds) and body. `secret` as `whsec_…`. */
export function sign(secret: string, id: string, timestamp: string, body: string): string {
  const key = Buffer.from(secret.slice(textStart.length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`);
  return `v1,${mac.digest("base64")}`;
}

export const newWebhookSecret = (): string =>
  textStart + randomBytes(secretBytes).toString("base64");

/** A secret for storage (`seal`). */
export const sealWebhookSecret = (pepper: string, partnerId: number, secret: string): Buffer =>
  seal(pepper, purpose, partnerId, Buffer.from(secret));

/** The secret again; null with another pepper or for another partner. */
export const openWebhookSecret = (
  pepper: string,
  partnerId: number,
  sealed: Buffer,
): string | null => unseal(pepper, purpose, partnerId, sealed)?.toString() ?? null;
