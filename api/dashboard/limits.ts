import { refused } from "#api/http/refused.ts";
import { dashboardCall } from "#api/dashboard/viewer.ts";
import { limitWish } from "#api/account/limit-requests.ts";
import type { Services } from "#api/http/services.ts";
import type { ShownLimitRequest } from "#src/contract/dashboard.ts";
import {
  createLimitRequest,
  type LimitRequest,
  listLimitRequests,
} from "#src/limits/limit-requests.ts";

const shownMax = 100;

/** The partner's limit requests, newest first. */
export const listLimitsCall = ({ db }: Services) =>
  dashboardCall("GET", "/limit-requests", {}, async (ctx) => {
    const { key } = ctx.state.viewer;
    const requests = await listLimitRequests(db, { partner: key.partnerId }, shownMax);
    ctx.body = { requests: requests.map(shown) };
  });

/** Asks for other limits, as POST /limit-requests of the API does (docs/contract.md 3.3). */
export const askLimitsCall = ({ db }: Services) =>
  dashboardCall("POST", "/limit-requests", { body: limitWish }, async (ctx) => {
    const { viewer, body } = ctx.state;
    const { requested_rpm, requested_daily, comment = "" } = body;
    const wish = { partner_id: viewer.key.partnerId, requested_rpm, requested_daily, comment };
    const request = await createLimitRequest(db, wish);
    if (request === null)
      throw refused(
        "limit-request-pending",
        "An earlier request of yours waits for the operator's decision. Send another when it is decided.",
      );
    ctx.status = 201;
    ctx.body = shown(request);
  });

const shown = (request: LimitRequest): ShownLimitRequest => ({
  id: request.id,
  status: request.status,
  requested_rpm: request.requested_rpm,
  requested_daily: request.requested_daily,
  comment: request.comment,
  created: request.created_at.getTime(),
  decided: request.decided_at?.getTime() ?? null,
  decision_comment: request.decision_comment,
});
