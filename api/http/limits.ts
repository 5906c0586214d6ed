import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Context } from "#api/http/state.ts";
import type { Services } from "#api/http/services.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";
import type { Metered } from "#src/limits/meter.ts";
import type { QuotaDecision } from "#src/limits/quota-decision.ts";

/** The limit headers of docs/contract.md 8. */
export const limitHeaders = (quota: QuotaDecision): Record<string, string> => ({
  "X-RateLimit-Limit": String(quota.limit),
  "X-RateLimit-Remaining": String(quota.remaining),
  "X-RateLimit-Reset": String(quota.resetS),
  "X-RateLimit-Daily-Limit": String(quota.dailyLimit),
  "X-RateLimit-Daily-Remaining": String(quota.dailyRemaining),
});

/**
 * Whose budget a request uses (docs/decisions.md 8): the partner's for secret keys; for publishable ones the viewer's own,
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
  const viewer = viewerName(config.reporterPepper, viewerNetwork(ip));
  return { bucket: `pk:${id}:${viewer}`, usage: `w${id}`, rpm, daily, floor: null };
}

/** The viewers of the last requests: a hash costs as much as the rest of the metering. */
const viewerNames = new LRUCache<string, string>({ max: 1000 });

function viewerName(pepper: string, network: string): string {
  const question = `${network} ${pepper}`;
  const known = viewerNames.get(question);
  if (known !== undefined) return known;
  const name = createHmac("sha256", pepper).update(network).digest("base64url").slice(0, 22);
  viewerNames.set(question, name);
  return name;
}

/** Under what a request is counted: the template, not the path, so that there are as many labels as routes. */
export const usageLabel = ({ method, state }: Context): string =>
  `${method} ${state.place?.template ?? "(unknown)"}`;

/** Adds to the usage of a counted request what has become of it. */
export function countOutcome(
  services: Pick<Services, "config" | "usedToday" | "meter">,
  ctx: Context,
  outcome: "not_modified" | "errors",
): void {
  const { quota, key, ip } = ctx.state;
  if (quota !== undefined && key !== undefined)
    services.meter.note(meteredOf(services, key, ip), quota, usageLabel(ctx), outcome);
}
