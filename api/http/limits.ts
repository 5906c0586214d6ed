import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Context } from "#api/http/context.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import { hourS } from "#src/domain/units.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import type { ProblemCode } from "#src/contract/refusals.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";
import type { QuotaDecision } from "#src/limits/limiter.ts";
import type { Metered } from "#src/limits/meter.ts";
import { usageField } from "#src/limits/usage-fields.ts";

/** The limit headers of docs/contract.md 8. */
export const limitHeaders = (quota: QuotaDecision): Record<string, string> => ({
  "X-RateLimit-Limit": String(quota.limit),
  "X-RateLimit-Remaining": String(quota.remaining),
  "X-RateLimit-Reset": String(quota.resetS),
  "X-RateLimit-Daily-Limit": String(quota.dailyLimit),
  "X-RateLimit-Daily-Remaining": String(quota.dailyRemaining),
});

/**
 * The budget that a request uses (decisions 8): the partner's for secret keys; for publishable ones the viewer's own,
 * so that a busy page cannot starve its own server. The pepper keeps viewers' addresses out of Redis.
 */
export function meteredOf(
  { config, usedToday }: Pick<HttpDeps, "config" | "usedToday">,
  key: KeyInfo,
  ip: string,
): Metered {
  const { id, rpm, daily } = key.partner;
  if (key.kind === "secret")
    return { bucket: `p${id}`, usage: usageOf(key), rpm, daily, floor: usedToday.floorOf(id) };
  const viewer = viewerName(config.reporterPepper, viewerNetwork(ip));
  return { bucket: `pk:${id}:${viewer}`, usage: usageOf(key), rpm, daily, floor: null };
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

/** A request's label in the usage: the template, not the path, so that there are as many labels as routes. */
export const usageLabel = ({ method, state: { routePath } }: Context): string =>
  routePath?.labels.get(method) ?? `${method} ${routePath?.template ?? "(unknown)"}`;

const usageOf = ({ kind, partnerId }: KeyInfo): string =>
  kind === "secret" ? `p${partnerId}` : `w${partnerId}`;

type NeedsMeter = Pick<HttpDeps, "meter">;

/** Adds to the usage of a counted request that its answer was not sent again. */
export function countUnchanged({ meter }: NeedsMeter, ctx: Context): void {
  const { quota, key } = ctx.state;
  if (quota !== undefined && key !== undefined)
    meter.note(usageOf(key), quota.day, usageField.notModified(usageLabel(ctx)));
}

/** Adds to the usage what a request of a known key was refused with, counted or not (decisions 12.10). */
export function countRefusal({ meter }: NeedsMeter, ctx: Context, code: ProblemCode): void {
  const { quota, limits, key } = ctx.state;
  const decision = quota ?? limits;
  if (key === undefined || decision === undefined) return;
  const [usage, { day, resetS }] = [usageOf(key), decision];
  const what = quota === undefined ? "refused" : "errors";
  meter.note(usage, day, usageField.problem(usageLabel(ctx), what, code));
  // Counted requests get their hour with their duration (src/limits/request-journal.ts).
  if (quota === undefined)
    meter.note(usage, day, usageField.refusedHour(Math.floor((resetS - 60) / hourS) - 24 * day));
}

/** Adds to the usage that marks of a batch were refused while the batch was taken. */
export function countRefusedMark({ meter }: NeedsMeter, ctx: Context, code: ProblemCode): void {
  const { quota, key } = ctx.state;
  if (quota !== undefined && key !== undefined)
    meter.note(usageOf(key), quota.day, usageField.problem(usageLabel(ctx), "marks", code));
}
