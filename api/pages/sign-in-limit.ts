import type { Services } from "#api/services.ts";
import { viewerNetwork } from "#src/addresses.ts";
import { refuse, type Problem } from "#src/domain/problems.ts";
import { grantOf } from "#src/grant.ts";
import { createStandIn } from "#src/stand-in.ts";

const networksMax = 50_000;
const minutesADay = 1440;

/**
 * Counts an attempt to sign in from `ip`; a refusal (429) when its network has used up its attempts of the minute.
 * In the memory of each process: a stranger must not be able to fill Redis.
 */
export function signInLimit({
  config,
  clock,
}: Pick<Services, "config" | "clock">): (ip: string) => Problem | null {
  const attempts = createStandIn(networksMax);
  const rpm = config.signInsPerMinute;
  return (ip) => {
    const nowS = clock() / 1000;
    const daily = rpm * minutesADay;
    const counts = attempts.take(viewerNetwork(ip), 1, rpm, daily, nowS);
    const { granted, mn, dn } = counts;
    if (granted > 0) return null;
    const { retryAfterS } = grantOf({ granted: false, rpm, daily, mn, dn, nowS, seq: null });
    return refuse("rate-limit-exceeded", `Too many attempts. Try again in ${retryAfterS} s.`, {
      retryAfterS,
      limit: rpm,
      window: "60s",
    });
  };
}
