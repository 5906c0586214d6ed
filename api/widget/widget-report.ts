import { widgetReportBody } from "#src/contract/report.ts";
import { answerMark } from "#api/marks/answer-mark.ts";
import { widgetCandidateOf } from "#api/marks/incoming-marks.ts";
import { widgetReportAnswers } from "#api/widget/widget-answers.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

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
      const incomingMark = widgetCandidateOf(services, request, params["station_id"]!, body, false);
      return answerMark(services, request, incomingMark);
    },
  });
