import type { Services } from "#api/http/services.ts";
import type { UsageCount } from "#src/domain/usage.ts";
import { pendingUsage, type PendingUsage } from "#src/limits/pending-usage.ts";
import { loadUsage } from "#src/limits/usage-rows.ts";

/** A partner's usage from `fromDay` (days since the epoch) to this moment: each request once. */
export const usageSince = async (
  services: Services,
  partnerId: number,
  fromDay: number,
): Promise<UsageCount[]> =>
  loadUsage(services.db, partnerId, fromDay, await livePart(services, partnerId));

/** While Redis is away the durable rows are what is known. */
async function livePart(
  { redis, config, log }: Services,
  partnerId: number,
): Promise<PendingUsage[]> {
  try {
    return await pendingUsage(redis, config.redisPrefix, partnerId);
  } catch (error) {
    log.debug({ reason: (error as Error).message }, "usage without its live part");
    return [];
  }
}
