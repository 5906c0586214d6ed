import { Type } from "typebox";
import { usageAnswers } from "#api/account/account-answers.ts";
import { usageSince } from "#api/account/live-usage.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";
import { usageDays } from "#src/domain/usage.ts";
import { dayOf } from "#src/limits/local-limiter.ts";

const query = Type.Object({
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 365, default: 7, description: "Days back, with today" }),
  ),
});

/** GET /usage, docs/contract.md 4.6: durable days with what was counted since the last flush. Shape: docs/decisions.md 6. */
export const usageRoute = (services: Services) =>
  route({
    method: "GET",
    path: "/usage",
    access: "secret",
    summary: "What you have used, by day and method",
    answers: usageAnswers,
    query,
    async handle(ctx) {
      const { key, query, quota } = ctx.state;
      const { days = 7 } = query;
      const { partner } = key;
      const today = dayOf(services.clock() / 1000);
      const counts = await usageSince(services, partner.id, today - days + 1);
      const own = usageDays(counts, "partner", today, days);
      const widget = usageDays(counts, "widget", today, days);
      const { date, requests } = own[0]!;
      ctx.body = {
        today: { date, requests, remaining: quota.dailyRemaining },
        limits: { rpm: partner.rpm, daily: partner.daily },
        days: own,
        widget: { today: { date, requests: widget[0]!.requests }, days: widget },
      };
    },
  });
