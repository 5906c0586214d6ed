import { stringify } from "csv-stringify/sync";
import { Type } from "typebox";
import { usageSince } from "#api/account/usage.ts";
import { dashboardCall } from "#api/dashboard/viewer.ts";
import { meteredOf } from "#api/http/middleware.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import { errorsSince } from "#api/dashboard/troubles.ts";
import type { ProblemCode } from "#src/contract/refusals.ts";
import type {
  MinuteFigures,
  Overview,
  SentDay,
  SentMarks,
  ShownDay,
} from "#src/contract/dashboard.ts";
import { formatTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { type Audience, type ErrorCount, type UsageCount, usageDays } from "#src/domain/usage.ts";
import { dayOf } from "#src/limits/limiter.ts";
import { minuteFigures } from "#src/limits/usage-minutes.ts";
import { countSentMarks } from "#src/marks/marks-sent.ts";

const minuteDays = 7;
const overviewQuery = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 14 })),
});

/** Limits and their rest, and requests by day and method. It counts nothing itself. */
export const overviewCall = (services: DashboardDeps) =>
  dashboardCall("GET", "/overview", { role: "reader", query: overviewQuery }, async (ctx) => {
    const { key } = ctx.state.viewer;
    const { days = 14 } = ctx.state.query;
    const { partner } = key;
    const now = services.clock();
    const today = dayOf(now / 1000);
    const [left, counts, errors, minutes] = await Promise.all([
      services.meter.peek(meteredOf(services, key, ctx.state.ip)),
      usageSince(services, partner.id, today - days + 1),
      errorsSince(services, partner.id, today - days + 1),
      minutesOf(services, partner.id, today),
    ]);
    const daysOf = (audience: Audience): ShownDay[] =>
      usageDays(counts, audience, today, days).map((day, back) => {
        const refused = errors.filter(
          (one) => one.audience === audience && one.day === today - back,
        );
        const limited = refused.filter(({ code }) => limitCodes.includes(code));
        return { ...day, refused: sumOf(refused), limited: sumOf(limited) };
      });
    const own = daysOf("partner");
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
      widget: daysOf("widget"),
      minutes,
      minute_days: minuteDays,
      incidents: services.service.openIncidents().map(({ id, title, opened, updates }) => ({
        ...{ id, title, since: opened, text: updates.at(-1)!.text },
      })),
    } satisfies Overview;
  });

/** The refusals for which a partner can ask for more. */
const limitCodes: readonly string[] = [
  "rate-limit-exceeded",
  "daily-quota-exceeded",
] satisfies ProblemCode[];

const sumOf = (errors: readonly ErrorCount[]): number =>
  errors.reduce((sum, { refused }) => sum + refused, 0);

const minutesOf = (
  { redis, config, log }: DashboardDeps,
  partnerId: number,
  today: number,
): Promise<MinuteFigures | null> =>
  minuteFigures(redis, config.redisPrefix, partnerId, today, minuteDays).catch((error: Error) => {
    log.debug({ reason: error.message }, "overview without busy minutes");
    return null;
  });

const csvQuery = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
});
const columns = ["date", "audience", "method", "requests", "not_modified", "errors"];

/** Requests by day, audience and method as a spreadsheet, the newest day first. */
export const usageCsvCall = (services: DashboardDeps) =>
  dashboardCall("GET", "/usage.csv", { role: "reader", query: csvQuery }, async (ctx) => {
    const { viewer, query } = ctx.state;
    const { days = 30 } = query;
    const today = dayOf(services.clock() / 1000);
    const counts = await usageSince(services, viewer.key.partnerId, today - days + 1);
    ctx.set({
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": `attachment; filename="usage-${dateOf(today)}.csv"`,
    });
    // A method is not the partner's own words, but a spreadsheet must never take a cell for a formula.
    ctx.body = stringify(lines(counts), { header: true, columns, escape_formulas: true });
  });

/** Adds flushed counts and pending ones up to one line for each day, audience and method. */
function lines(counts: readonly UsageCount[]): (string | number)[][] {
  const sums = new Map<string, UsageCount>();
  for (const count of counts) {
    const name = JSON.stringify([count.day, count.audience, count.method]);
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, { ...count });
    else {
      sum.requests += count.requests;
      sum.notModified += count.notModified;
      sum.errors += count.errors;
    }
  }
  return [...sums.values()]
    .sort(
      (a, b) =>
        b.day - a.day || a.audience.localeCompare(b.audience) || (a.method < b.method ? -1 : 1),
    )
    .map((sum) => [
      dateOf(sum.day),
      sum.audience,
      sum.method,
      sum.requests,
      sum.notModified,
      sum.errors,
    ]);
}

const dateOf = (day: number): string => formatTime(day * dayMs).slice(0, 10);

const markDays = 7;
const countedMax = 100_000;
const rememberedMs = 5000;

/** Outcomes of the marks that the partner's servers and pages have sent. */
export function marksCall({ db, clock }: DashboardDeps) {
  // Counting takes up to half a second: it is done once in this time for all who look.
  const counted = new Map<number, { at: number; days: Promise<SentDay[]> }>();
  const count = (partnerId: number, now: number): Promise<SentDay[]> => {
    for (const [id, { at }] of counted) if (now - at >= rememberedMs) counted.delete(id);
    const recent = counted.get(partnerId);
    if (recent !== undefined) return recent.days;
    const fresh = countSentMarks(db, partnerId, now, markDays, countedMax);
    counted.set(partnerId, { at: now, days: fresh });
    fresh.catch(() => counted.delete(partnerId));
    return fresh;
  };
  return dashboardCall("GET", "/marks", { role: "reader" }, async (ctx) => {
    ctx.body = {
      days: await count(ctx.state.viewer.key.partnerId, clock()),
      counted_max: countedMax,
    } satisfies SentMarks;
  });
}
