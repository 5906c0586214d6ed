import { confirmBody } from "#src/contract/report.ts";
import { answerMark } from "#api/marks/answer-mark.ts";
import { widgetMarkOf } from "#api/marks/incoming-marks.ts";
import { widgetConfirmAnswers } from "#api/widget/widget-answers.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

/**
 * POST /widget/stations/{station_id}/confirm: a mark of the pending status that the driver saw, refused where it is
 * the driver's own (409 own-mark) or not pending any more (409 nothing-pending); docs/decisions.md 6.
 */
export const widgetConfirmRoute = (services: Services) =>
  route({
    method: "POST",
    path: "/widget/stations/{station_id}/confirm",
    access: "any",
    summary: "Confirm a pending mark from the widget",
    answers: widgetConfirmAnswers,
    body: confirmBody,
    handle: (ctx) => {
      const id = ctx.params["station_id"]!;
      const mark = widgetMarkOf(services, ctx.state, id, ctx.state.body, true);
      return answerMark(services, ctx, mark);
    },
  });
