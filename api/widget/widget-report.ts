import { widgetReportBody } from "#src/contract/report.ts";
import { answerMark } from "#api/marks/answer-mark.ts";
import { widgetMarkOf } from "#api/marks/incoming-marks.ts";
import { widgetReportAnswers } from "#api/widget/widget-answers.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

/** POST /widget/stations/{station_id}/report: a driver's mark on the map, docs/decisions.md 6. */
export const widgetReportRoute = (services: Services) =>
  route({
    method: "POST",
    path: "/widget/stations/{station_id}/report",
    access: "any",
    summary: "Mark a station from the widget",
    answers: widgetReportAnswers,
    body: widgetReportBody,
    handle: (ctx) => {
      const id = ctx.params["station_id"]!;
      const mark = widgetMarkOf(services, ctx.state, id, ctx.state.body, false);
      return answerMark(services, ctx, mark);
    },
  });
