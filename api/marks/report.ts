import { reportBody } from "#src/contract/report.ts";
import { answerMark } from "#api/marks/answer-mark.ts";
import { partnerMarkOf } from "#api/marks/incoming-marks.ts";
import { reportAnswers } from "#api/marks/marks-answers.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

/** POST /stations/{station_id}/report: docs/contract.md 4.9, docs/decisions.md 3 and 5. */
export const reportRoute = (services: Services) =>
  route({
    method: "POST",
    path: "/stations/{station_id}/report",
    access: "secret",
    summary: "Forward a mark of one of your users",
    answers: reportAnswers,
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
