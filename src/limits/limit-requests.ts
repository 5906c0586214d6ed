import { Type } from "typebox";
import type { ConsoleLimitRequest } from "#src/contract/console.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { formatTime } from "#src/domain/time.ts";
import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import { usageOf } from "#src/keys/partner-reports.ts";
import { limits, updatePartner } from "#src/keys/partners.ts";
import { msOf } from "#src/marks/marks.ts";
import { act, already, changed, nothing, operatorAct, unknown } from "#src/operators/act.ts";
import { comment, rowId } from "#src/operators/inputs.ts";
import { presented } from "#src/operators/presented.ts";
import { tellPartner } from "#src/pushes/webhooks/outbox.ts";

export const limitRequestStatuses = ["pending", "approved", "rejected", "withdrawn"] as const;

/** A partner's request for other limits (docs/contract.md 2.6). The requested numbers stay as they were sent. */
export type LimitRequest = Omit<
  ConsoleLimitRequest,
  "partner" | "created" | "decided" | "rpm" | "daily" | "days" | "minutes"
> & { created_at: Date; decided_at: Date | null };

const columns = `id, partner_id, status, requested_rpm, requested_daily, rpm_given as granted_rpm, daily_given as granted_daily,
  comment, created_at, decided_at, decision_comment`;

/** Stores a request; null when one of the partner is pending: a unique index decides between two at once. */
export async function createLimitRequest(
  db: Db | Tx,
  wish: Pick<LimitRequest, "partner_id" | "requested_rpm" | "requested_daily" | "comment">,
): Promise<LimitRequest | null> {
  const sql = `insert into limit_requests (partner_id, requested_rpm, requested_daily, comment) values (?, ?, ?, ?)
    on conflict (partner_id) where status = 'pending' do nothing returning ${columns}`;
  const values = [wish.partner_id, wish.requested_rpm, wish.requested_daily, wish.comment];
  return (await rows<LimitRequest>(db, sql, values))[0] ?? null;
}

/** Requests of one partner or all, in one state or any, without those in another, the newest first. */
export const listLimitRequests = (
  db: Db | Tx,
  only: { partner?: number | undefined } & Partial<
    Record<"status" | "without", LimitRequest["status"] | undefined>
  >,
  limit: number,
): Promise<LimitRequest[]> =>
  rows<LimitRequest>(
    db,
    `select ${columns} from limit_requests where partner_id = coalesce(?::int, partner_id) and status = coalesce(?::text, status)
       and status is distinct from ?::text order by id desc limit ?`,
    [only.partner ?? null, only.status ?? null, only.without ?? null, limit],
  );

const commented = Type.Object({ comment: Type.Optional(comment) });
/** Limits to give instead of the requested ones. */
const approval = Type.Object({ ...limits, ...commented.properties });

/** Approves a pending request and gives its partner the limits, in force within 15 s. */
export const approveLimitRequest = operatorAct(approval, rowId, async (tx, wish, id) => {
  const { comment = "", rpm, daily } = wish;
  const decided = await decide(tx, id, "approved", comment.trim());
  if (isRefusal(decided)) return decided;
  const given = { rpm: rpm ?? decided.requested_rpm, daily: daily ?? decided.requested_daily };
  const before = await lockLimits(tx, decided.partner_id);
  const partner = await updatePartner(tx, decided.partner_id, given);
  if (partner === null) throw new Error("a limit request without a partner");
  const keptSql = `update limit_requests set rpm_before = ?, daily_before = ?, rpm_given = ?, daily_given = ?
      where id = ? returning ${columns}`;
  const kept = [before.rpm, before.daily, given.rpm, given.daily, id];
  const request = (await rows<LimitRequest>(tx, keptSql, kept))[0]!;
  return {
    value: { request, partner },
    action: "limit-request.approve",
    subject: `limit request ${id}`,
    details: { partner: partner.id, ...given, comment: request.decision_comment },
    undo: undoCall(id),
  };
});

/**
 * The partner takes its pending request back, as long as nobody has decided it (decisions 12.15). Another may be sent at
 * once.
 */
export const withdrawLimitRequest = (
  db: Db,
  partnerId: number,
  id: number,
): Promise<LimitRequest | Refusal> =>
  act(db, `partner ${partnerId}`, async (tx) => {
    const sql = `update limit_requests set status = 'withdrawn', decided_at = server_now()
      where id = ? and partner_id = ? and status = 'pending' returning ${columns}`;
    const [value] = await rows<LimitRequest>(tx, sql, [id, partnerId]);
    if (value === undefined) return whyDecided(tx, id, partnerId);
    const details = { partner: partnerId };
    return { value, action: "limit-request.withdraw", subject: `${what} ${id}`, details };
  });

/** Rejects a pending request: its partner's limits stay as they are. */
export const rejectLimitRequest = operatorAct(
  commented,
  rowId,
  async (tx, { comment = "" }, id) => {
    const value = await decide(tx, id, "rejected", comment.trim());
    if (isRefusal(value)) return value;
    const details = { partner: value.partner_id, comment: value.decision_comment };
    const entry = { action: "limit-request.reject", subject: `limit request ${id}`, details };
    return { value, ...entry, undo: undoCall(id) };
  },
);

const undoCall = (id: number) => ({ path: `/limit-requests/${id}/undo` });

const undoDecision = operatorAct(nothing, rowId, async (tx, _, id) => {
  const isOther = (why: string): Refusal => changed(what, id, why);
  const sql = `select ${columns}, rpm_before, daily_before, rpm_given, daily_given
        from limit_requests where id = ? for update`;
  const [decided] = await rows<LimitRequest & KeptLimits>(tx, sql, [id]);
  if (decided === undefined) return unknown(what, id);
  const { status, partner_id: partner } = decided;
  if (status === "withdrawn") return isOther("was withdrawn by its partner");
  if (status === "pending")
    return isOther(
      "is pending: somebody has taken the decision back already, or nobody has decided it",
    );
  const newer = "select id from limit_requests where partner_id = ? and id > ? limit 1";
  if ((await rows(tx, newer, [partner, id])).length > 0) return isOther(anotherRequest);
  let limits = await lockLimits(tx, partner);
  if (status === "approved") {
    const { rpm_before: rpm, daily_before: daily, rpm_given, daily_given } = decided;
    if (rpm === null || daily === null)
      return isOther("was approved when the limits of before were not kept yet");
    if (limits.rpm !== rpm_given || limits.daily !== daily_given)
      return isOther(
        `gave limits that were changed since, to ${limits.rpm} a minute and ${limits.daily} a day`,
      );
    limits = { rpm, daily };
    await updatePartner(tx, partner, limits);
  }
  const reopen = `update limit_requests set status = 'pending', decided_at = null, decision_comment = '',
        rpm_before = null, daily_before = null, rpm_given = null, daily_given = null where id = ? returning ${columns}`;
  const request = (await rows<LimitRequest>(tx, reopen, [id]))[0]!;
  await tellDecision(tx, request);
  const verb = status === "approved" ? "approve" : "reject";
  return {
    value: { request, limits },
    action: `limit-request.${verb}-undo`,
    subject: `${what} ${id}`,
    details: { partner, ...limits },
  };
});

/**
 * Takes a decision back (decisions 13.21): the request is pending again and, if it was approved, its partner has the
 * former limits, in force within 15 s. The partner is told. Gives `changed`, and does nothing, when the limits have
 * changed since, or the partner has sent another request.
 */
export const undoLimitDecision: typeof undoDecision = Object.assign(
  (...given: Parameters<typeof undoDecision>) =>
    undoDecision(...given).catch((error: { code?: unknown }) => {
      // The partner has just sent another request.
      if (error.code === uniqueViolation) return changed(what, given[2], anotherRequest);
      throw error;
    }),
  { input: nothing, id: rowId },
);

const what = "limit request";
const anotherRequest = "is not the newest: its partner has sent another request since";
const uniqueViolation = "23505";

/** A partner's limits before an approval, and those that it gave; null for a rejection. */
type KeptLimits = Record<
  "rpm_before" | "daily_before" | "rpm_given" | "daily_given",
  number | null
>;

/** A partner's limits, which nobody else changes until this transaction ends. */
const lockLimits = async (tx: Tx, partner: number): Promise<{ rpm: number; daily: number }> => {
  const sql = "select rpm, daily from partners where id = ? for no key update";
  return (await rows<{ rpm: number; daily: number }>(tx, sql, [partner]))[0]!;
};

/** Tells the partner the new state of its request: decided, or pending again. */
const tellDecision = (tx: Tx, request: LimitRequest): Promise<void> => {
  const shown = contractForm(request);
  return tellPartner(tx, request.partner_id, "limit_request.decided", shown);
};

/** A request as docs/contract.md 2.6 has it, times in UTC. A withdrawn one is not told of there. */
export function contractForm(request: LimitRequest) {
  const { partner_id: _, granted_rpm: _rpm, granted_daily: _daily, ...shown } = request;
  return presented(
    { ...shown, status: shown.status as Exclude<LimitRequest["status"], "withdrawn"> },
    (time) => formatTime(time.getTime()),
  );
}

/** Decides a request once: the first of two operators at the same moment wins. */
async function decide(
  tx: Tx,
  id: number,
  status: LimitRequest["status"],
  comment: string,
): Promise<LimitRequest | Refusal> {
  const sql = `update limit_requests set status = ?, decided_at = server_now(), decision_comment = ?
    where id = ? and status = 'pending' returning ${columns}`;
  const [decided] = await rows<LimitRequest>(tx, sql, [status, comment, id]);
  if (decided !== undefined) {
    await tellDecision(tx, decided);
    return decided;
  }
  return whyDecided(tx, id);
}

/** Why a request, of this partner if one is given, is not pending. */
async function whyDecided(tx: Tx, id: number, partner: number | null = null): Promise<Refusal> {
  const sql =
    "select status as state from limit_requests where id = ? and partner_id = coalesce(?::int, partner_id)";
  const [request] = await rows<{ state: string }>(tx, sql, [id, partner]);
  return request === undefined ? unknown(what, id) : already(what, id, request.state);
}

const usageDays = 14;

/** Limit requests, pending ones first and then the newest, each beside its partner's limits and use. */
export async function limitRequestRows(
  db: Db,
  limit: number,
): Promise<Omit<ConsoleLimitRequest, "minutes">[]> {
  const sql = `select r.id, r.partner_id, p.name as partner, r.status, r.requested_rpm, r.requested_daily,
       r.rpm_given as granted_rpm, r.daily_given as granted_daily, r.comment,
       ${msOf("r.created_at")} as created, ${msOf("r.decided_at")} as decided, r.decision_comment, p.rpm, p.daily
     from limit_requests r join partners p on p.id = r.partner_id
     order by r.status <> 'pending', r.id desc limit ?`;
  const found = await rows<Omit<ConsoleLimitRequest, "days" | "minutes">>(db, sql, [limit]);
  const usage = await usageOf(
    db,
    [...new Set(found.map((request) => request.partner_id))],
    usageDays,
  );
  return found.map((request) => ({ ...request, days: usage.get(request.partner_id) ?? [] }));
}
