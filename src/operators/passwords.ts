import { randomBytes, randomInt, scrypt, type ScryptOptions, timingSafeEqual } from "node:crypto";

export const passwordMin = 12;
export const passwordMax = 200;

/** A random password: 20 characters, 116 bits, without characters that look alike. */
export const newPassword = (): string =>
  Array.from({ length: 20 }, () => letters[randomInt(letters.length)]).join("");

const letters = "23456789abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";

// Each guess costs 32 MB and a tenth of a second of one core.
const cost = { N: 2 ** 15, r: 8, p: 1 };
type Cost = typeof cost;
const saltBytes = 16;
const hashBytes = 32;
const atOnce = 2;
/** Guesses that wait for their turn, about half a second: who comes later is refused. */
const waitingMost = 10;

let running = 0;
const first: (() => void)[] = [];
const waiting: (() => void)[] = [];

/** True when a password that is tried now would wait too long behind others'. */
export const isCrowded = (): boolean => waiting.length >= waitingMost;

/** The form in which a password is stored: `scrypt$N$r$p$salt$hash`, salt and hash in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, cost);
  const { N, r, p } = cost;
  return ["scrypt", N, r, p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

/**
 * True when `password` is the one of `stored`. `isFirst`: it does not wait behind those of strangers. With null (an unknown name, an account without a password) it takes as
 * long and gives false, so that the time does not show which names exist.
 */
export async function isPassword(
  password: string,
  stored: string | null,
  isFirst = false,
): Promise<boolean> {
  const own = stored === null ? null : parse(stored);
  const { salt, hash, ...costs } = own ?? noAccount;
  const derived = await derive(password, salt, costs, isFirst ? first : waiting);
  return timingSafeEqual(derived, hash) && own !== null;
}

const noAccount = { ...cost, salt: Buffer.alloc(saltBytes), hash: Buffer.alloc(hashBytes) };

function parse(stored: string): Cost & { salt: Buffer; hash: Buffer } {
  const [scheme, N, r, p, salt = "", hash = ""] = stored.split("$");
  const parsed = {
    N: Number(N),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, "base64url"),
    hash: Buffer.from(hash, "base64url"),
  };
  if (scheme !== "scrypt" || parsed.hash.length !== hashBytes)
    throw new Error("a stored password of an unknown form");
  return parsed;
}

/** At most two at once, so that guesses cannot take the threads that compress and read files. */
async function derive(
  password: string,
  salt: Buffer,
  { N, r, p }: Cost,
  queue = first,
): Promise<Buffer> {
  if (running >= atOnce) await new Promise<void>((turn) => queue.push(turn));
  else running += 1;
  try {
    const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
    return await new Promise<Buffer>((done, fail) => {
      // Different encodings of the same text are the same password.
      scrypt(password.normalize("NFC"), salt, hashBytes, options, (error, key) =>
        error === null ? done(key) : fail(error),
      );
    });
  } finally {
    const next = first.shift() ?? waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
