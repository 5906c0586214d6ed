import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { table } from "#cli/output.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { usageDays, type UsageDay } from "#src/domain/usage.ts";
import { dayMs } from "#src/domain/units.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import type { Partner } from "#src/keys/partners.ts";
import { pendingUsage, type PendingUsage } from "#src/limits/pending-usage.ts";
import { loadUsage } from "#src/limits/usage-rows.ts";

const patienceMs = 2000;

/** A partner's latest days, newest (today) first: what its servers sent, and what its pages did. */
export interface UsageSeen {
  own: UsageDay[];
  widget: UsageDay[];
}

/**
 * Usage of these partners with what was counted since the last flush. Without Redis it is what is durable: at most a
 * flush interval behind.
 */
export async function usageOf(
  db: Db,
  config: Config,
  partnerIds: readonly number[],
  days: number,
): Promise<Map<number, UsageSeen>> {
  const pending = await livePart(config);
  const today = Math.floor((Date.now() + config.clockOffsetS * 1000) / dayMs);
  const found = new Map<number, UsageSeen>();
  for (const id of partnerIds) {
    const own = pending.filter(({ partnerId }) => partnerId === id);
    const counts = await loadUsage(db, id, today - days + 1, own);
    found.set(id, {
      own: usageDays(counts, "partner", today, days),
      widget: usageDays(counts, "widget", today, days),
    });
  }
  return found;
}

/** What is left of today's quota, and what a partner's pages have used of their viewers' own. */
export function todayOf({ daily: quota }: Pick<Partner, "daily">, used: UsageSeen | undefined) {
  const requests = used?.own[0]?.requests ?? 0;
  return {
    used_today: requests,
    remaining_today: Math.max(0, quota - requests),
    widget_today: used?.widget[0]?.requests ?? 0,
  };
}

/** Days for people, a line each. */
export const usageTable = (own: UsageSeen["own"], widget: UsageSeen["widget"]): string =>
  table(
    own.map(({ date, requests, not_modified, errors }, day) => ({
      date,
      requests,
      not_modified,
      errors,
      widget: widget[day]?.requests ?? 0,
    })),
    "",
  );

async function livePart(config: Config): Promise<PendingUsage[]> {
  if (config.redisUrl === "") return [];
  const redis = createRedis(config, createLog({ logLevel: "silent" }, "operator"));
  try {
    await Promise.race([once(redis, "ready"), sleep(patienceMs, undefined, { ref: false })]);
    return await pendingUsage(redis, config.redisPrefix);
  } catch {
    return [];
  } finally {
    redis.disconnect();
  }
}
