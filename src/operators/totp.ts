import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const cipher = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;
const secretBytes = 20;
const periodS = 30;
/** Steps that a clock may be wrong by. */
const window = 1;

/** RFC 6238 with what every authenticator app takes: SHA-1, 6 digits, 30 s. Loaded when somebody needs it. */
const totpOf = async (secret: Uint8Array, label = "") => {
  const { Secret, TOTP } = await import("otpauth");
  const buffer = new Uint8Array(secret).buffer;
  return new TOTP({ issuer: "Fuelmark", label, secret: new Secret({ buffer }), period: periodS });
};

export const newTotpSecret = (): Buffer => randomBytes(secretBytes);

/** What is entered into an authenticator app: its secret in base32, and both as an address for a QR code. */
export async function totpSetUp(
  secret: Buffer,
  name: string,
): Promise<{ secret: string; address: string }> {
  const totp = await totpOf(secret, name);
  return { secret: totp.secret.base32, address: totp.toString() };
}

/** The time step of a code, ±1; null for a code that is wrong or over. `now` in ms. */
export async function stepOfCode(
  secret: Buffer,
  code: string,
  now: number,
): Promise<number | null> {
  if (!/^\d{6}$/.test(code)) return null;
  const totp = await totpOf(secret);
  const delta = totp.validate({ token: code, timestamp: now, window });
  return delta === null ? null : totp.counter({ timestamp: now }) + delta;
}

const keyOf = (pepper: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", pepper, "", "secrets of TOTP", 32));

/** A secret as it is stored: useless without the pepper, and for another account. */
export function sealTotp(pepper: string, accountId: number, secret: Buffer): Buffer {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, keyOf(pepper), iv).setAAD(Buffer.from(`${accountId}`));
  const text = Buffer.concat([sealing.update(secret), sealing.final()]);
  return Buffer.concat([iv, sealing.getAuthTag(), text]);
}

/** The secret again; null with another pepper or for another account. */
export function openTotp(pepper: string, accountId: number, sealed: Buffer): Buffer | null {
  const iv = sealed.subarray(0, ivBytes);
  const tag = sealed.subarray(ivBytes, ivBytes + tagBytes);
  const opening = createDecipheriv(cipher, keyOf(pepper), iv, { authTagLength: tagBytes });
  opening.setAAD(Buffer.from(`${accountId}`)).setAuthTag(tag);
  const text = opening.update(sealed.subarray(ivBytes + tagBytes));
  try {
    return Buffer.concat([text, opening.final()]);
  } catch {
    return null;
  }
}
