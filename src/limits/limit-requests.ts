import { rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import { type Partner, updatePartner } from "#src/keys/partners.ts";

export const limitRequestStatuses = ["pending", "approved", "rejected"] as const;

/** A partner's request for other limits (partner-api.md 2.6). The requested numbers stay as they were sent. */
export interface LimitRequest {
  id: number;
  partner_id: number;
  status: (typeof limitRequestStatuses)[number];
  requested_rpm: number;
  requested_daily: number;
  comment: string;
  created_at: Date;
  decided_at: Date | null;
  decision_comment: string;
}

const columns =
  "id, partner_id, status, requested_rpm, requested_daily, comment, created_at, decided_at, decision_comment";

/** Stores a request; null when one of the partner is pending: a unique index settles who was first. */
export async function createLimitRequest(
  db: Db | Tx,
  wish: Pick<LimitRequest, "partner_id" | "requested_rpm" | "requested_daily" | "comment">,
): Promise<LimitRequest | null> {
  const sql = `insert into limit_requests (partner_id, requested_rpm, requested_daily, comment) values (?, ?, ?, ?)
    on conflict (partner_id) where status = 'pending' do nothing returning ${columns}`;
  const values = [wish.partner_id, wish.requested_rpm, wish.requested_daily, wish.comment];
  return (await rows<LimitRequest>(db, sql, values))[0] ?? null;
}

/** Newest first; of one partner or all, in one state or any. */
export const listLimitRequests = (
  db: Db | Tx,
  only: { partner?: number | undefined; status?: LimitRequest["status"] | undefined },
  limit: number,
): Promise<LimitRequest[]> =>
  rows<LimitRequest>(
    db,
    `select ${columns} from limit_requests where partner_id = coalesce(?::int, partner_id) and status = coalesce(?::text, status)
     order by id desc limit ?`,
    [only.partner ?? null, only.status ?? null, limit],
  );

/** The status of a request, or null when there is none. */
export const limitRequestStatus = async (
  db: Db | Tx,
  id: number,
): Promise<LimitRequest["status"] | null> =>
  (
    await rows<Pick<LimitRequest, "status">>(db, "select status from limit_requests where id = ?", [
      id,
    ])
  )[0]?.status ?? null;

/** Limits that are given other than asked for. */
export type Edited = Partial<Pick<Partner, "rpm" | "daily">>;

/** Approves a pending request and gives its partner the limits, in force within 15 s; null when none is pending. */
export async function approveLimitRequest(
  tx: Tx,
  id: number,
  { comment, rpm, daily }: Edited & { comment: string },
): Promise<{ request: LimitRequest; partner: Partner } | null> {
  const request = await decide(tx, id, "approved", comment);
  if (request === null) return null;
  const limits = { rpm: rpm ?? request.requested_rpm, daily: daily ?? request.requested_daily };
  const partner = await updatePartner(tx, request.partner_id, limits);
  if (partner === null) throw new Error("a limit request without a partner");
  return { request, partner };
}

/** Rejects a pending request; null when none is pending. */
export const rejectLimitRequest = (
  tx: Tx,
  id: number,
  comment: string,
): Promise<LimitRequest | null> => decide(tx, id, "rejected", comment);

async function decide(
  tx: Tx,
  id: number,
  status: LimitRequest["status"],
  comment: string,
): Promise<LimitRequest | null> {
  const sql = `update limit_requests set status = ?, decided_at = server_now(), decision_comment = ?
    where id = ? and status = 'pending' returning ${columns}`;
  return (await rows<LimitRequest>(tx, sql, [status, comment, id]))[0] ?? null;
}
