import { between } from "#src/contract/shapes/kinds.ts";
import { Type } from "typebox";
import { reply } from "#api/openapi/answers.ts";
import { usage, usageExample } from "#src/contract/shapes/account.ts";
import { route } from "#api/http/route.ts";
import type { AccountDeps } from "#api/account/deps.ts";
import { type UsageCount, usageDays } from "#src/domain/usage.ts";
import { dayOf } from "#src/limits/limiter.ts";
import { pendingUsage } from "#src/limits/pending-usage.ts";
import { loadUsage } from "#src/limits/usage-rows.ts";

const query = Type.Object({
  days: Type.Optional(between("Days back, with today", 1, 365, 7)),
});

/** GET /usage, docs/contract.md 4.6: durable days with the counts since the last flush. Shape: decisions 6. */
export const usageRoute = (services: AccountDeps) =>
  route({
    method: "GET",
    path: "/usage",
    access: "secret",
    summary: "What you have used, by day and method",
    answers: {
      operationId: "getUsage",
      tag: "Account",
      description:
        "Today is counted live, this request included. Requests that a limit refused are not.",
      replies: { 200: reply("By day and method", usage, usageExample) },
    },
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

/** A partner's usage from `fromDay` (days since the epoch) to this moment: each request once. */
export async function usageSince(
  { db, redis, config, log }: AccountDeps,
  partnerId: number,
  fromDay: number,
): Promise<UsageCount[]> {
  const pending = await pendingUsage(redis, config.redisPrefix, [partnerId]).catch(
    (error: Error) => {
      // While Redis is away the durable rows are all there is.
      log.debug({ reason: error.message }, "usage without its live part");
      return [];
    },
  );
  return loadUsage(db, partnerId, fromDay, pending);
}
