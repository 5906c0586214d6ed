import type { Services } from "#api/http/services.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { quotaDecision } from "#src/limits/quota-decision.ts";
import { createLocalLimiter } from "#src/limits/local-limiter.ts";

const networksMax = 50_000;
const minutesADay = 1440;

/**
 * Counts something that a viewer at `ip` does; a refusal (429) when its network has done it `perMinute` times in the
 * minute. In the memory of each process: a stranger must not be able to fill Redis.
 *
 * @param what done too often: `attempts to sign in`
 */
export function networkLimit(
  { clock }: Pick<Services, "clock">,
  perMinute: number,
  what: string,
): (ip: string) => Refusal | null {
  const counts = createLocalLimiter(networksMax);
  const daily = perMinute * minutesADay;
  return (ip) => {
    const nowS = clock() / 1000;
    const { granted, mn, dn } = counts.take(viewerNetwork(ip), 1, perMinute, daily, nowS);
    if (granted > 0) return null;
    const refused = { granted: false, rpm: perMinute, daily, mn, dn, nowS, seq: null };
    const { retryAfterS } = quotaDecision(refused);
    return refuse("rate-limit-exceeded", `Too many ${what}. Try again in ${retryAfterS} s.`, {
      retryAfterS,
      limit: perMinute,
      window: "60s",
    });
  };
}
