import { dashboardCall } from "#api/dashboard/viewer.ts";
import { limitWish } from "#api/account/limit-requests.ts";
import type { Services } from "#api/http/services.ts";
import type { ShownLimitRequest } from "#src/contract/dashboard.ts";
import { refuse } from "#src/contract/refusals.ts";
import {
  createLimitRequest,
  type LimitRequest,
  listLimitRequests,
} from "#src/limits/limit-requests.ts";

const shownMax = 100;

/** The partner's limit requests, newest first. */
export const listLimitsCall = ({ db }: Services) =>
  dashboardCall({
    method: "GET",
    path: "/limit-requests",
    async handle({ viewer: { key } }) {
      const requests = await listLimitRequests(db, { partner: key.partnerId }, shownMax);
      return { body: { requests: requests.map(shown) } };
    },
  });

/** Asks for other limits, as POST /limit-requests of the API does (partner-api.md 3.3). */
export const askLimitsCall = ({ db }: Services) =>
  dashboardCall({
    method: "POST",
    path: "/limit-requests",
    body: limitWish,
    async handle({ viewer: { key }, body: { requested_rpm, requested_daily, comment = "" } }) {
      const wish = { partner_id: key.partnerId, requested_rpm, requested_daily, comment };
      const request = await createLimitRequest(db, wish);
      if (request !== null) return { status: 201, body: shown(request) };
      return refuse(
        "limit-request-pending",
        "An earlier request of yours waits for the operator's decision. Send another when it is decided.",
      );
    },
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
