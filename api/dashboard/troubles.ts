import { stringify } from "csv-stringify/sync";
import { Type } from "typebox";
import { dashboardCall } from "#api/dashboard/viewer.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import type {
  CallError,
  CallErrors,
  ShownHour,
  ShownHours,
  ShownRequests,
} from "#src/contract/dashboard.ts";
import { quantileMs, recentMax, recentRequests } from "#src/limits/request-journal.ts";
import { formatTime } from "#src/domain/time.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import type { Audience, ErrorCount, HourCount } from "#src/domain/usage.ts";
import { listKeys } from "#src/keys/issued-keys.ts";
import { dayOf } from "#src/limits/limiter.ts";
import { pendingUsage, type PendingUsage } from "#src/limits/pending-usage.ts";
import { hoursKept, loadErrors, loadHours } from "#src/limits/usage-rows.ts";

const days = (most: number, usual: number) =>
  Type.Object({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: most, default: usual })),
  });

/** Counts of each problem code by call, today and in the period (decisions 12.10). */
export const errorsCall = (services: DashboardDeps) =>
  dashboardCall("GET", "/errors", { role: "reader", query: days(90, 14) }, async (ctx) => {
    const { days = 14 } = ctx.state.query;
    const today = dayOf(services.clock() / 1000);
    const found = await errorsSince(services, ctx.state.viewer.key.partnerId, today - days + 1);
    ctx.body = {
      days,
      partner: byCall(found, "partner", today),
      widget: byCall(found, "widget", today),
    } satisfies CallErrors;
  });

const columns = ["date", "audience", "method", "code", "errors", "not_counted", "marks_in_batches"];

/** The same by day, as a spreadsheet, the newest day first. */
export const errorsCsvCall = (services: DashboardDeps) =>
  dashboardCall("GET", "/errors.csv", { role: "reader", query: days(365, 30) }, async (ctx) => {
    const { days = 30 } = ctx.state.query;
    const today = dayOf(services.clock() / 1000);
    const found = await errorsSince(services, ctx.state.viewer.key.partnerId, today - days + 1);
    const lines = summed(found, ({ day, audience, method, code }) => [day, audience, method, code])
      .sort((a, b) => b.day - a.day || (a.method < b.method ? -1 : 1))
      .map((sum) => [
        ...[dateOf(sum.day), sum.audience, sum.method, sum.code],
        ...[sum.counted, sum.refused, sum.marks],
      ]);
    ctx.set({
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": `attachment; filename="errors-${dateOf(today)}.csv"`,
    });
    ctx.body = stringify(lines, { header: true, columns, escape_formulas: true });
  });

/** Errors by day, call and code; those of a moment ago are missing while Redis is away. */
export const errorsSince = async (
  services: DashboardDeps,
  partnerId: number,
  fromDay: number,
): Promise<ErrorCount[]> =>
  loadErrors(services.db, partnerId, fromDay, await pendingOf(services, partnerId));

function byCall(errors: readonly ErrorCount[], audience: Audience, today: number): CallError[] {
  const own = errors.filter((error) => error.audience === audience);
  return summed(own, ({ method, code }) => [method, code])
    .map(({ method, code, counted, refused, marks }) => {
      const same = own.filter((error) => error.method === method && error.code === code);
      const ofToday = same.filter(({ day }) => day === today);
      return {
        ...{ method, code, refused, marks },
        today: ofToday.reduce((sum, error) => sum + error.counted + error.refused, 0),
        total: counted + refused,
        last: dateOf(Math.max(...same.map(({ day }) => day))),
      };
    })
    .sort(
      (a, b) =>
        b.today - a.today ||
        b.total + b.marks - a.total - a.marks ||
        (a.method < b.method ? -1 : 1),
    );
}

/** Errors added up by `nameOf`; the other fields are those of the first. */
function summed(
  errors: readonly ErrorCount[],
  nameOf: (error: ErrorCount) => readonly unknown[],
): ErrorCount[] {
  const sums = new Map<string, ErrorCount>();
  for (const error of errors) {
    const name = JSON.stringify(nameOf(error));
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, { ...error });
    else {
      sum.counted += error.counted;
      sum.refused += error.refused;
      sum.marks += error.marks;
    }
  }
  return [...sums.values()];
}

const recentQuery = Type.Object({
  audience: Type.Optional(
    Type.Union([Type.Literal("partner"), Type.Literal("widget")], { default: "partner" }),
  ),
  only: Type.Optional(Type.Literal("errors")),
});

/** The last requests, or the last that failed (decisions 12.11). They are in Redis: 503 while it is away. */
export const recentCall = ({ db, redis, config, clock }: DashboardDeps) =>
  dashboardCall("GET", "/recent", { role: "reader", query: recentQuery }, async (ctx) => {
    const { partnerId } = ctx.state.viewer.key;
    const { audience = "partner", only } = ctx.state.query;
    const [found, keys] = await Promise.all([
      recentRequests(redis, config.redisPrefix, partnerId, audience, only === "errors", clock()),
      listKeys(db, partnerId),
    ]);
    const prefixes = new Map(keys.map(({ id, prefix }) => [id, prefix]));
    ctx.body = {
      requests: found.map(({ label, keyId, requestId, ...rest }) => ({
        ...rest,
        call: label,
        key: prefixes.get(keyId) ?? "",
        request_id: requestId,
      })),
      kept: recentMax,
    } satisfies ShownRequests;
  });

/** Requests by hour with the median and the p95 of their durations (decisions 12.12). */
export const hoursCall = (services: DashboardDeps) =>
  dashboardCall("GET", "/hours", { role: "reader" }, async (ctx) => {
    const { partnerId } = ctx.state.viewer.key;
    const newest = Math.floor(services.clock() / hourMs);
    const from = newest - hoursKept + 1;
    const pending = await pendingOf(services, partnerId);
    const counts = await loadHours(services.db, partnerId, from, pending);
    ctx.body = {
      partner: hoursOf(counts, "partner", newest),
      widget: hoursOf(counts, "widget", newest),
    } satisfies ShownHours;
  });

const hoursOf = (counts: readonly HourCount[], audience: Audience, newest: number): ShownHour[] =>
  Array.from({ length: hoursKept }, (_, back) => {
    const hour = newest - back;
    const own = counts.filter((count) => count.hour === hour && count.audience === audience);
    const buckets = new Map<number, number>();
    for (const { bucket, requests } of own)
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + requests);
    return {
      at: hour * hourMs,
      requests: own.reduce((sum, { requests }) => sum + requests, 0),
      errors: own.reduce((sum, { errors }) => sum + errors, 0),
      refused: own.reduce((sum, { refused }) => sum + refused, 0),
      median_ms: quantileMs(buckets, 0.5),
      p95_ms: quantileMs(buckets, 0.95),
    };
  });

/** The usage that is not flushed yet; none while Redis is away. */
const pendingOf = (
  { redis, config, log }: DashboardDeps,
  partnerId: number,
): Promise<PendingUsage[]> =>
  pendingUsage(redis, config.redisPrefix, [partnerId]).catch((error: Error) => {
    log.debug({ reason: error.message }, "errors and hours without their live part");
    return [];
  });

const dateOf = (day: number): string => formatTime(day * dayMs).slice(0, 10);
