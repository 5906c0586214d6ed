import { widgetReportBody } from "#src/domain/report.ts";
import { answerMark } from "#api/answer-mark.ts";
import { widgetCandidateOf } from "#api/candidates.ts";
import { widgetReportAnswers } from "#api/openapi/answers/widget.ts";
import { route } from "#api/route.ts";
import type { Services } from "#api/services.ts";

/** POST /widget/stations/{station_id}/report: a driver's mark on the map, decisions.md 6. */
export const widgetReportRoute = (services: Services) =>
  route({
    method: "POST",
    path: "/widget/stations/{station_id}/report",
    access: "any",
    summary: "Mark a station from the widget",
    answers: widgetReportAnswers,
    body: widgetReportBody,
    handle: (request) => {
      const { params, body } = request;
      const candidate = widgetCandidateOf(services, request, params["station_id"]!, body, false);
      return answerMark(services, request, candidate);
    },
  });
