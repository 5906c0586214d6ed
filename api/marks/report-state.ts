import { dayMs } from "#src/domain/units.ts";
import { dayOfId, loadReports } from "#src/marks/marks.ts";
import { catchUp, presentReport } from "#api/marks/reports.ts";
import { reportStateAnswers } from "#api/marks/marks-answers.ts";
import { refused } from "#api/http/errors.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

const keptMs = 7 * dayMs;

/** GET /reports/{report_id}: what became of a mark, docs/decisions.md 5. Kept 7 days, shown to its own partner only. */
export const reportStateRoute = (services: Services) =>
  route({
    method: "GET",
    path: "/reports/{report_id}",
    access: "secret",
    summary: "What became of a mark",
    answers: reportStateAnswers,
    handle: async (ctx) => {
      const { db, clock } = services;
      const text = ctx.params["report_id"]!;
      const id = /^\d{1,16}$/.test(text) ? Number(text) : 0;
      const isKept = Number.isSafeInteger(id) && dayOfId(id) + dayMs > clock() - keptMs;
      const [report] = isKept ? await loadReports(db, [id]) : [];
      if (report === undefined || report.partnerId !== ctx.state.key.partnerId) {
        throw refused(
          "report-not-found",
          "There is no such report of yours. Reports are kept for 7 days.",
        );
      }
      if (report.outcome !== null) await catchUp(services);
      const state = report.outcome === null ? "queued" : "processed";
      const { report_id, ...output } = presentReport(services, report, false);
      ctx.body = { report_id, station_id: report.stationId, state, ...output };
    },
  });
