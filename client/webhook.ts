import { createHmac, timingSafeEqual } from "node:crypto";
import type { WebhookEvent } from "./types.ts";

/** Headers of a request: of `fetch`, or Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Record<string, string | string[] | undefined>;

export interface VerifyOptions {
  /** The present time, ms; that of this machine. */
  now?: number;
  /** How far the time of the request may be from it, seconds; 300. */
  toleranceS?: number;
}

/** An event that the service has sent, and the id by which you know a repetition. */
export interface Verified {
  id: string;
  event: WebhookEvent;
}

/**
 * The event of a request to your webhook, or null when the request does not come from the service: no signature is of
 * one of your secrets, its time is more than five minutes off, or something is missing. Answer 401 then.
 *
 * @param secrets `whsec_…` as the service gave it; both during a rotation. Throws for anything else
 * @param rawBody the bytes of the body as they came, before anything parses them
 */
export function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  { now = Date.now(), toleranceS = 300 }: VerifyOptions = {},
): Verified | null {
  const keys = (typeof secrets === "string" ? [secrets] : secrets).map(keyOf);
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (!id || !timestamp || !signatures) return null;
  if (!/^\d{1,15}$/.test(timestamp)) return null;
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceS) return null;
  const given = signatures.split(" ").flatMap((one) => {
    const [version, mac = ""] = one.split(",");
    return version === "v1" ? [Buffer.from(mac, "base64")] : [];
  });
  const isSigned = keys.some((key) => {
    const mac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(rawBody).digest();
    return given.some((one) => one.length === mac.length && timingSafeEqual(one, mac));
  });
  if (!isSigned) return null;
  const text = typeof rawBody === "string" ? rawBody : Buffer.from(rawBody).toString();
  return { id, event: JSON.parse(text) as WebhookEvent };
}

const secretForm = /^whsec_[A-Za-z0-9+/]+=*$/;
/** Least length of a key by Standard Webhooks, bytes. */
const keyBytesMin = 24;

/** An empty or a wrong secret must not pass unseen: anybody could sign with it. */
function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  if (!secretForm.test(secret) || key.length < keyBytesMin)
    throw new Error("a webhook's secret begins with whsec_ and is given whole");
  return key;
}

/** The header's only value. */
function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (typeof headers.get === "function") return headers.get(name);
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  const value = found.length === 1 ? found[0]![1] : undefined;
  return typeof value === "string" ? value : null;
}
