import { Type } from "typebox";
import { route } from "#api/route.ts";
import type { Services } from "#api/services.ts";
import { usageDays } from "#src/domain/usage.ts";
import { dayOf } from "#src/stand-in.ts";
import { pendingUsage, type PendingUsage } from "#src/usage/pending.ts";
import { loadUsage } from "#src/usage/rows.ts";

const query = Type.Object({
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 365, default: 7, description: "Days back, with today" }),
  ),
});

/** GET /usage, partner-api.md 4.6: durable days with what was counted since the last flush. Shape: decisions.md 6. */
export const usageRoute = (services: Services) =>
  route({
    method: "GET",
    path: "/usage",
    access: "secret",
    summary: "What you have used, by day and method",
    query,
    async handle({ key, query: { days = 7 }, dailyRemaining }) {
      const { partner } = key;
      const today = dayOf(services.clock() / 1000);
      const counts = await loadUsage(
        services.db,
        partner.id,
        today - days + 1,
        await livePart(services, partner.id),
      );
      const own = usageDays(counts, "partner", today, days);
      const widget = usageDays(counts, "widget", today, days);
      const { date, requests } = own[0]!;
      return {
        body: {
          today: { date, requests, remaining: dailyRemaining },
          limits: { rpm: partner.rpm, daily: partner.daily },
          days: own,
          widget: { today: { date, requests: widget[0]!.requests }, days: widget },
        },
      };
    },
  });

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
