import { between, named } from "#src/contract/shapes/kinds.ts";
import { type Static, Type } from "typebox";
import { reply } from "#api/openapi/answers.ts";
import {
  limitRequest,
  limitRequestExample,
  limitRequestList,
} from "#src/contract/shapes/account.ts";
import { refused } from "#api/http/errors.ts";
import { route } from "#api/http/route.ts";
import type { AccountDeps } from "#api/account/deps.ts";
import type { Db } from "#src/infrastructure/db.ts";
import {
  contractForm,
  createLimitRequest,
  type LimitRequest,
  listLimitRequests,
} from "#src/limits/limit-requests.ts";

/** docs/contract.md 2.6. */
export const limitWish = named("LimitWish", {
  requested_rpm: between("Requests a minute", 1, 100_000),
  requested_daily: between("Requests a day", 1, 100_000_000),
  // Null is the same as absent, as in a report.
  comment: Type.Optional(
    Type.Union([Type.String({ maxLength: 500 }), Type.Null()], {
      default: "",
      description: "The reason, and the date from which you need it",
    }),
  ),
});

const query = Type.Object({
  limit: Type.Optional(between("Requests of one answer", 1, 100, 20)),
});

/** POST /limit-requests, docs/contract.md 4.7: one can be pending at a time. */
export const askLimitsRoute = ({ db }: AccountDeps) =>
  route({
    method: "POST",
    path: "/limit-requests",
    access: "secret",
    summary: "Ask the operator for other limits",
    answers: {
      operationId: "requestLimits",
      tag: "Account",
      description:
        "One request may be pending at a time. Approved limits apply by themselves; the operator answers within a business day.",
      replies: { 201: reply("The request", limitRequest, limitRequestExample) },
      problems: ["limit-request-pending"],
      bodyExamples: {
        "more of both": {
          requested_rpm: 600,
          requested_daily: 200_000,
          comment: limitRequestExample.comment,
        },
      },
    },
    body: limitWish,
    async handle(ctx) {
      const { key, body } = ctx.state;
      const next = "GET /limit-requests shows it; send another when it is decided.";
      const request = await askLimits(db, key.partnerId, body, next);
      ctx.status = 201;
      ctx.body = contractForm(request);
    },
  });

/** GET /limit-requests, docs/contract.md 4.8: the partner's own, newest first. */
export const listLimitsRoute = ({ db }: AccountDeps) =>
  route({
    method: "GET",
    path: "/limit-requests",
    access: "secret",
    summary: "Your limit requests, newest first",
    answers: {
      operationId: "listLimitRequests",
      tag: "Account",
      description: "The newest first.",
      replies: {
        200: reply("Your requests", limitRequestList, {
          requests: [limitRequestExample],
          count: 1,
        }),
      },
    },
    query,
    async handle(ctx) {
      const { key, query } = ctx.state;
      const { limit = 20 } = query;
      const requests = await listLimitRequests(
        db,
        { partner: key.partnerId, without: "withdrawn" },
        limit,
      );
      ctx.body = {
        requests: requests.map(contractForm),
        count: requests.length,
      };
    },
  });

/** Stores a request. While an earlier one is pending it throws a refusal, which ends with what to do `next`. */
export async function askLimits(
  db: Db,
  partner_id: number,
  { requested_rpm, requested_daily, comment }: Static<typeof limitWish>,
  next: string,
): Promise<LimitRequest> {
  const wish = { partner_id, requested_rpm, requested_daily, comment: comment ?? "" };
  const request = await createLimitRequest(db, wish);
  if (request !== null) return request;
  const pending = "An earlier request of yours waits for the operator's decision.";
  throw refused("limit-request-pending", `${pending} ${next}`);
}
