import { refused } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { signInLimit } from "#api/pages/guards.ts";
import { minuteMs } from "#src/domain/units.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import { createAttempts } from "#src/operators/attempts.ts";

/** An attempt to sign in. */
export interface Attempt {
  ip: string;
  /** The id of the account, or the name that somebody has made up; null for a key, which nobody can guess. */
  account: number | string | null;
  /** The browser that has signed in as this account before; null for any other. */
  browser: string | null;
}

/**
 * The limits of signing in (decisions 13.9): SIGN_INS_PER_MINUTE for a network; a growing delay for a network
 * at an account, and for all strangers at an account together. A known browser has a delay of its own instead of these.
 */
export function signInLimits(services: Pick<ConsoleDeps, "config" | "clock">) {
  const countNetwork = signInLimit(services);
  const ofOne = createAttempts({ free: 5, longestMs: 15 * minuteMs });
  const ofStrangers = createAttempts({ free: 20, longestMs: minuteMs });

  const countersOf = ({ ip, account, browser }: Attempt) => {
    if (account === null) return [];
    const name = `${typeof account} ${account}`;
    if (browser !== null) return [{ attempts: ofOne, key: `browser ${browser} ${name}` }];
    return [
      { attempts: ofOne, key: `network ${viewerNetwork(ip)} ${name}` },
      { attempts: ofStrangers, key: name },
    ];
  };

  return {
    /** Counts an attempt; throws 429. Returns what to call when it has succeeded. */
    begin(attempt: Attempt): () => void {
      if (attempt.browser === null) countNetwork(attempt.ip);
      const counters = countersOf(attempt);
      const now = services.clock();
      const waitMs = Math.max(0, ...counters.map(({ attempts, key }) => attempts.waitMs(key, now)));
      if (waitMs > 0) {
        const retryAfterS = Math.ceil(waitMs / 1000);
        const words = `Too many attempts to sign in. Try again in ${retryAfterS} s.`;
        throw refused("rate-limit-exceeded", words, { retryAfterS });
      }
      for (const { attempts, key } of counters) attempts.count(key, now);
      return () => counters.forEach(({ attempts, key }) => attempts.forget(key));
    },
  };
}
