import { type Answers, json } from "#api/openapi/answers.ts";
import { markProblems, markReplies } from "#api/marks/marks-answers.ts";
import { reportExample } from "#src/contract/shapes/marks.ts";
import { widgetConfig, widgetConfigExample } from "#src/contract/shapes/widget.ts";

export const widgetConfigAnswers: Answers = {
  operationId: "getWidgetConfig",
  tag: "Widget",
  description: "What the map needs to start, as the operator has set it for this key.",
  replies: {
    200: { description: "The configuration", forms: json(widgetConfig, widgetConfigExample) },
  },
};

const device = "5f1d7c2e-anonymous-device";
const { user_ref: _user, external_id: _id, ...statement } = reportExample;

export const widgetReportAnswers: Answers = {
  operationId: "reportFromWidget",
  tag: "Widget",
  description: "A mark by the map's viewer, with the same checks as any other.",
  replies: markReplies,
  problems: markProblems,
  takes: ["Prefer", "X-Dry-Run"],
  bodyExamples: { "a mark at the station": { ...statement, device } },
};

export const widgetConfirmAnswers: Answers = {
  operationId: "confirmFromWidget",
  tag: "Widget",
  description:
    "A mark of the pending status that the viewer saw. Refused to the author of the mark, and when that status is not pending any more.",
  replies: markReplies,
  problems: [...markProblems, "own-mark", "nothing-pending"],
  takes: ["Prefer", "X-Dry-Run"],
  bodyExamples: { "a confirmation": { device, status: "no", lat: 55.0302, lon: 82.9204 } },
};
