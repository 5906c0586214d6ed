import { createHmac } from "node:crypto";
import type { Services } from "#api/http/services.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import type { QuotaDecision } from "#src/limits/quota-decision.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";
import type { Metered } from "#src/limits/meter.ts";

/** The limit headers of partner-api.md 8. */
export const limitHeaders = (grant: QuotaDecision): Record<string, string> => ({
  "X-RateLimit-Limit": String(grant.limit),
  "X-RateLimit-Remaining": String(grant.remaining),
  "X-RateLimit-Reset": String(grant.resetS),
  "X-RateLimit-Daily-Limit": String(grant.dailyLimit),
  "X-RateLimit-Daily-Remaining": String(grant.dailyRemaining),
});

/**
 * Whose budget a request uses (decisions.md 8): the partner's for secret keys; for publishable ones the viewer's own,
 * so that a busy page cannot starve its own server. The pepper keeps viewers' addresses out of Redis.
 */
export function meteredOf(
  { config, usedToday }: Pick<Services, "config" | "usedToday">,
  key: KeyInfo,
  ip: string,
): Metered {
  const { id, rpm, daily } = key.partner;
  if (key.kind === "secret")
    return { bucket: `p${id}`, usage: `p${id}`, rpm, daily, floor: usedToday.floorOf(id) };
  const viewer = createHmac("sha256", config.reporterPepper)
    .update(viewerNetwork(ip))
    .digest("base64url");
  return { bucket: `pk:${id}:${viewer.slice(0, 22)}`, usage: `w${id}`, rpm, daily, floor: null };
}
