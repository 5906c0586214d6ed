import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { dayMs } from "#src/domain/units.ts";

/** Time for which a browser stays known after its last sign-in. */
export const knownForMs = 180 * dayMs;

/** The parts of an account that a browser's proof is bound to: a new password ends all proofs. */
interface Bound {
  id: number;
  /** `hashPassword` of its password. */
  password: string | null;
}

const form = /^([\w-]{16})\.(\d{1,15})\.([\w-]{43})$/;

/**
 * Proofs that somebody has signed in to an account with a browser (decisions 13.9): `id.end.mac`. Only the browser
 * stores them. A proof opens nothing; it only tells a browser from those of strangers.
 */
export function createKnownBrowsers(pepper: string) {
  const key = createHmac("sha256", pepper).update("known browsers").digest();
  const macOf = ({ id, password }: Bound, browser: string, end: string): Buffer =>
    createHmac("sha256", key).update([id, browser, end, password].join("\0")).digest();
  return {
    /** A proof for a browser; `browser` is its id when it had one. */
    prove(account: Bound, now: number, browser: string | null): string {
      const id = browser ?? randomBytes(12).toString("base64url");
      const end = String(now + knownForMs);
      return `${id}.${end}.${macOf(account, id, end).toString("base64url")}`;
    },
    /** The id of the browser that has this proof for this account; null for an invalid or expired proof. */
    read(account: Bound, proof: string, now: number): string | null {
      const [, id = "", end = "", mac = ""] = form.exec(proof) ?? [];
      if (id === "" || Number(end) <= now) return null;
      const sent = Buffer.from(mac, "base64url");
      return timingSafeEqual(sent, macOf(account, id, end)) ? id : null;
    },
  };
}
