import type { IncomingHttpHeaders } from "node:http";
import { isProblem } from "#src/domain/problems.ts";
import { parsePrefer } from "#src/domain/prefer.ts";
import { reportBody } from "#src/domain/report.ts";
import { candidateOf } from "#api/candidates.ts";
import { rehearse } from "#api/rehearsal.ts";
import { awaitReport, firstMarkGone, presentReport, reportPath } from "#api/reports.ts";
import { route } from "#api/route.ts";
import type { Services } from "#api/services.ts";

/** POST /stations/{station_id}/report: partner-api.md 4.9, decisions.md 3 and 5. */
export const reportRoute = (services: Services) =>
  route({
    method: "POST",
    path: "/stations/{station_id}/report",
    access: "secret",
    summary: "Forward a mark of one of your users",
    body: reportBody,
    handle: async ({ params, body, key, headers, arrivedAt }) => {
      const candidate = candidateOf(services, key, params["station_id"]!, body);
      if (isProblem(candidate)) return candidate;
      if (headers["x-dry-run"] === "1") {
        const rehearsed = await rehearse(services, candidate);
        return isProblem(rehearsed) ? rehearsed : { body: rehearsed };
      }
      const admission = await services.intake.submit(candidate);
      if (admission.kind === "refused") return admission.problem;
      const { waitMs, applied } = readPreference(headers, services.config.waitMs);
      // What the meter and the storing took is part of the caller's wait.
      const leftMs = waitMs - (performance.now() - arrivedAt);
      const report = await awaitReport(services, admission, leftMs);
      if (report === null) return firstMarkGone;
      const queued = report.outcome === null;
      return {
        status: queued ? 202 : 200,
        headers: {
          ...(applied === null ? {} : { "Preference-Applied": applied }),
          ...(queued ? { Location: reportPath(report.id) } : {}),
        },
        body: presentReport(services, report, admission.kind === "duplicate"),
      };
    },
  });

/** RFC 7240: `respond-async` waits for nothing, `wait=N` lowers the wait; what is applied is echoed. */
function readPreference(
  headers: IncomingHttpHeaders,
  longestMs: number,
): { waitMs: number; applied: string | null } {
  const { respondAsync, waitS } = parsePrefer(headers["prefer"] as string | undefined);
  if (respondAsync) return { waitMs: 0, applied: "respond-async" };
  if (waitS === null || waitS * 1000 > longestMs) return { waitMs: longestMs, applied: null };
  return { waitMs: waitS * 1000, applied: `wait=${waitS}` };
}
