import { answerMark, markProblems, markReplies, widgetMarkOf } from "#api/marks/submit-mark.ts";
import { route } from "#api/http/route.ts";
import type { WidgetDeps } from "#api/widget/deps.ts";
import { confirmBody, widgetReportBody } from "#src/contract/report.ts";
import { reportExample } from "#src/contract/shapes/marks.ts";

const device = "5f1d7c2e-anonymous-device";
const { user_ref: _user, external_id: _id, ...statement } = reportExample;

/** POST /widget/stations/{station_id}/report: a driver's mark on the map, decisions 6. */
export const widgetReportRoute = (services: WidgetDeps) =>
  route({
    method: "POST",
    path: "/widget/stations/{station_id}/report",
    access: "any",
    summary: "Mark a station from the widget",
    answers: {
      operationId: "reportFromWidget",
      tag: "Widget",
      description: "A mark by the map's viewer, with the same checks as any other.",
      replies: markReplies,
      problems: markProblems,
      takes: ["Prefer", "X-Dry-Run"],
      bodyExamples: { "a mark at the station": { ...statement, device } },
    },
    body: widgetReportBody,
    handle: (ctx) => {
      const id = ctx.params["station_id"]!;
      return answerMark(services, ctx, () =>
        widgetMarkOf(services, ctx.state, id, ctx.state.body, false),
      );
    },
  });

/**
 * POST /widget/stations/{station_id}/confirm: a mark of the pending status that the driver saw, refused where it is
 * the driver's own (409 own-mark) or not pending any more (409 nothing-pending); decisions 6.
 */
export const widgetConfirmRoute = (services: WidgetDeps) =>
  route({
    method: "POST",
    path: "/widget/stations/{station_id}/confirm",
    access: "any",
    summary: "Confirm a pending mark from the widget",
    answers: {
      operationId: "confirmFromWidget",
      tag: "Widget",
      description:
        "A mark of the pending status that the viewer saw. Refused to the author of the mark, and when that status is not pending any more.",
      replies: markReplies,
      problems: [...markProblems, "own-mark", "nothing-pending"],
      takes: ["Prefer", "X-Dry-Run"],
      bodyExamples: { "a confirmation": { device, status: "no", lat: 55.0302, lon: 82.9204 } },
    },
    body: confirmBody,
    handle: (ctx) => {
      const id = ctx.params["station_id"]!;
      return answerMark(services, ctx, () =>
        widgetMarkOf(services, ctx.state, id, ctx.state.body, true),
      );
    },
  });
