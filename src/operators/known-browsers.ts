import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { dayMs } from "#src/domain/units.ts";

/** How long a browser is known after its last sign-in. */
export const knownForMs = 180 * dayMs;

/** An account as far as a browser's proof is bound to it: a new password ends all proofs. */
interface Bound {
  id: number;
  /** `hashPassword` of its password. */
  password: string | null;
}

const form = /^([\w-]{16})\.(\d{1,15})\.([\w-]{43})$/;

/**
 * What a browser keeps to show that somebody has signed in with it as an account (decisions 13.9):
 * `id.end.mac`. Nothing of it is stored here. It opens nothing; it only tells a browser from those of strangers.
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
    /** The id of the browser that has this proof for this account; null when it is none, or over. */
    read(account: Bound, proof: string, now: number): string | null {
      const [, id = "", end = "", mac = ""] = form.exec(proof) ?? [];
      if (id === "" || Number(end) <= now) return null;
      const sent = Buffer.from(mac, "base64url");
      return timingSafeEqual(sent, macOf(account, id, end)) ? id : null;
    },
  };
}
