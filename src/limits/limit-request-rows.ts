import { usageOf } from "#src/keys/partner-reports.ts";
import { rows, type Db } from "#src/infrastructure/db.ts";
import type { ConsoleLimitRequest } from "#src/contract/console.ts";
import { msOf } from "#src/marks/marks.ts";

const usageDays = 14;

/** Limit requests, pending ones first and then the newest, each beside its partner's limits and use. */
export async function limitRequestRows(
  db: Db,
  limit: number,
): Promise<Omit<ConsoleLimitRequest, "minutes">[]> {
  const found = await rows<Omit<ConsoleLimitRequest, "days" | "minutes">>(
    db,
    `select r.id, r.partner_id, p.name as partner, r.status, r.requested_rpm, r.requested_daily, r.comment,
       ${msOf("r.created_at")} as created, ${msOf("r.decided_at")} as decided, r.decision_comment, p.rpm, p.daily
     from limit_requests r join partners p on p.id = r.partner_id
     order by r.status <> 'pending', r.id desc limit ?`,
    [limit],
  );
  const usage = await usageOf(db, [...new Set(found.map((one) => one.partner_id))], usageDays);
  return found.map((one) => ({ ...one, days: usage.get(one.partner_id) ?? [] }));
}
