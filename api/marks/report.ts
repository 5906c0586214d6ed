import { reportBody } from "#src/contract/report.ts";
import { answerMark, markProblems, markReplies } from "#api/marks/answer-mark.ts";
import { partnerMarkOf } from "#api/marks/incoming-marks.ts";
import { reportExample } from "#src/contract/shapes/marks.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

/** POST /stations/{station_id}/report: docs/contract.md 4.9, decisions 3 and 5. */
export const reportRoute = (services: Services) =>
  route({
    method: "POST",
    path: "/stations/{station_id}/report",
    access: "secret",
    summary: "Forward a mark of one of your users",
    answers: {
      operationId: "reportStation",
      tag: "Marks",
      description:
        "Send `lat`, `lon` and `acc_m` when you have them: a mark at the station counts fully, any other is `remote` and needs a second user. A retry with the same `external_id` is safe for 30 days. The operator may switch marks off for a key.",
      replies: markReplies,
      problems: markProblems,
      takes: ["Prefer", "X-Dry-Run"],
      bodyExamples: {
        "a mark at the station": reportExample,
        "the least": { status: "no", user_ref: "user-18" },
      },
    },
    body: reportBody,
    handle: (ctx) => {
      const { key, body } = ctx.state;
      return answerMark(
        services,
        ctx,
        partnerMarkOf(services, key, ctx.params["station_id"]!, body),
      );
    },
  });
