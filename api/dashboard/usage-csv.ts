import { stringify } from "csv-stringify/sync";
import { Type } from "typebox";
import { dashboardCall } from "#api/dashboard/viewer.ts";
import { usageSince } from "#api/account/usage.ts";
import type { Services } from "#api/http/services.ts";
import { formatTime } from "#src/domain/time.ts";
import type { UsageCount } from "#src/domain/usage.ts";
import { dayMs } from "#src/domain/units.ts";
import { dayOf } from "#src/limits/local-limiter.ts";

const query = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
});
const columns = ["date", "audience", "method", "requests", "not_modified", "errors"];

/** Requests by day, audience and method as a spreadsheet, the newest day first. */
export const usageCsvCall = (services: Services) =>
  dashboardCall("GET", "/usage.csv", { query }, async (ctx) => {
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

/** What was flushed and what was not yet are one line. */
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
