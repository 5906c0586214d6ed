import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const cipher = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

const keyOf = (pepper: string, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", pepper, "", purpose, 32));

/** A secret for storage: unreadable without the pepper, and for another `purpose` or `owner`. */
export function seal(pepper: string, purpose: string, owner: number, secret: Buffer): Buffer {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, keyOf(pepper, purpose), iv).setAAD(
    Buffer.from(`${owner}`),
  );
  const text = Buffer.concat([sealing.update(secret), sealing.final()]);
  return Buffer.concat([iv, sealing.getAuthTag(), text]);
}

/** The secret again; null with another pepper, purpose or owner. */
export function unseal(
  pepper: string,
  purpose: string,
  owner: number,
  sealed: Buffer,
): Buffer | null {
  const iv = sealed.subarray(0, ivBytes);
  const tag = sealed.subarray(ivBytes, ivBytes + tagBytes);
  const opening = createDecipheriv(cipher, keyOf(pepper, purpose), iv, { authTagLength: tagBytes });
  opening.setAAD(Buffer.from(`${owner}`)).setAuthTag(tag);
  const text = opening.update(sealed.subarray(ivBytes + tagBytes));
  try {
    return Buffer.concat([text, opening.final()]);
  } catch {
    return null;
  }
}
