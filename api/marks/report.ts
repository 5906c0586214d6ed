import { reportBody } from "#src/contract/report.ts";
import { answerMark, markProblems, markReplies } from "#api/marks/answer-mark.ts";
import { partnerMarkOf } from "#api/marks/incoming-marks.ts";
import { json } from "#api/openapi/answers.ts";
import { outputExample, reportExample, reportState } from "#src/contract/shapes/marks.ts";
import { refused } from "#api/http/errors.ts";
import { dayMs } from "#src/domain/units.ts";
import { dayOfId, loadReports } from "#src/marks/marks.ts";
import { caughtUp, presentReport } from "#api/marks/reports.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

const keptMs = 7 * dayMs;

/** POST /stations/{station_id}/report: docs/contract.md 4.9, docs/decisions.md 3 and 5. */
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

/** GET /reports/{report_id}: what became of a mark, docs/decisions.md 5. Kept 7 days, shown to its own partner only. */
export const reportStateRoute = (services: Services) =>
  route({
    method: "GET",
    path: "/reports/{report_id}",
    access: "secret",
    summary: "What became of a mark",
    answers: {
      operationId: "getReport",
      tag: "Marks",
      description: "For the partner that sent it, for 7 days.",
      replies: {
        200: {
          description: "The mark's outcome, and the station's fuel block as it is now",
          forms: json(reportState, {
            ...outputExample,
            station_id: "n1234567",
            state: "processed",
          }),
        },
      },
      problems: ["report-not-found"],
    },
    handle: async (ctx) => {
      const { db, clock } = services;
      const text = ctx.params["report_id"]!;
      const id = /^\d{1,16}$/.test(text) ? Number(text) : 0;
      const isKept = Number.isSafeInteger(id) && dayOfId(id) + dayMs > clock() - keptMs;
      const [found] = isKept ? await loadReports(db, [id]) : [];
      if (found === undefined || found.partnerId !== ctx.state.key.partnerId) {
        throw refused("report-not-found");
      }
      const report = await caughtUp(services, found);
      const state = report.outcome === null ? "queued" : "processed";
      const { report_id, ...output } = presentReport(services, report, false);
      ctx.body = { report_id, station_id: report.stationId, state, ...output };
    },
  });
