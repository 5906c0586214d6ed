import { Type } from "typebox";
import { dashboardCall } from "#api/dashboard/viewer.ts";
import { meteredOf } from "#api/http/limits.ts";
import { usageSince } from "#api/account/usage.ts";
import type { Services } from "#api/http/services.ts";
import type { MinuteFigures, Overview } from "#src/contract/dashboard.ts";
import { usageDays } from "#src/domain/usage.ts";
import { dayOf } from "#src/limits/local-limiter.ts";
import { minuteFigures } from "#src/limits/usage-minutes.ts";

const minuteDays = 7;
const query = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 14 })),
});

/** Limits and what is left of them, and requests by day and method. Counts nothing itself. */
export const overviewCall = (services: Services) =>
  dashboardCall("GET", "/overview", { query }, async (ctx) => {
    const { key } = ctx.state.viewer;
    const { days = 14 } = ctx.state.query;
    const { partner } = key;
    const now = services.clock();
    const today = dayOf(now / 1000);
    const [left, counts, minutes] = await Promise.all([
      services.meter.peek(meteredOf(services, key, ctx.state.ip)),
      usageSince(services, partner.id, today - days + 1),
      minutesOf(services, partner.id, today),
    ]);
    const own = usageDays(counts, "partner", today, days);
    const { date, requests } = own[0]!;
    ctx.body = {
      now,
      minute: {
        limit: left.limit,
        remaining: left.remaining,
        resets: left.resetS * 1000,
      },
      today: { date, requests, limit: left.dailyLimit, remaining: left.dailyRemaining },
      days: own,
      widget: usageDays(counts, "widget", today, days),
      minutes,
      minute_days: minuteDays,
    } satisfies Overview;
  });

async function minutesOf(
  { redis, config, log }: Services,
  partnerId: number,
  today: number,
): Promise<MinuteFigures | null> {
  try {
    return await minuteFigures(redis, config.redisPrefix, partnerId, today, minuteDays);
  } catch (error) {
    log.debug({ reason: (error as Error).message }, "overview without busy minutes");
    return null;
  }
}
