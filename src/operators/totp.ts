import { randomBytes } from "node:crypto";
import { seal, unseal } from "#src/infrastructure/seal.ts";

const secretBytes = 20;
const periodS = 30;
/** Tolerance for a wrong clock, in steps. */
const window = 1;

/** RFC 6238 with the options that every authenticator app has: SHA-1, 6 digits, 30 s. Loaded when needed. */
const totpOf = async (secret: Uint8Array, label = "") => {
  const { Secret, TOTP } = await import("otpauth");
  const buffer = new Uint8Array(secret).buffer;
  return new TOTP({ issuer: "Fuelmark", label, secret: new Secret({ buffer }), period: periodS });
};

export const newTotpSecret = (): Buffer => randomBytes(secretBytes);

/** The input of an authenticator app: the secret in base32, and an address with secret and name for a QR code. */
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

const purpose = "secrets of TOTP";

/** A secret for storage: unreadable without the pepper, and for another account. */
export const sealTotp = (pepper: string, accountId: number, secret: Buffer): Buffer =>
  seal(pepper, purpose, accountId, secret);

/** The secret again; null with another pepper or for another account. */
export const openTotp = (pepper: string, accountId: number, sealed: Buffer): Buffer | null =>
  unseal(pepper, purpose, accountId, sealed);
