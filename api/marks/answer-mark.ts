import type { IncomingHttpHeaders } from "node:http";
import type { Candidate } from "#src/domain/admit.ts";
import { isProblem, type Problem } from "#src/contract/refusals.ts";
import { parsePrefer } from "#src/contract/prefer.ts";
import { rehearse } from "#api/marks/dry-run.ts";
import { awaitReport, firstMarkGone, presentReport, reportPath } from "#api/marks/reports.ts";
import type { ApiRequest, Reply } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

/**
 * Takes one mark in, or rehearses it (`X-Dry-Run: 1`), and answers as decisions.md 5 says: 200 with the outcome, or
 * 202 when it does not come within the wait.
 */
export async function answerMark(
  services: Services,
  { headers, arrivedAt }: Pick<ApiRequest, "headers" | "arrivedAt">,
  candidate: Candidate | Problem,
): Promise<Reply | Problem> {
  if (isProblem(candidate)) return candidate;
  if (headers["x-dry-run"] === "1") {
    const [rehearsed] = await rehearse(services, [candidate]);
    return isProblem(rehearsed!) ? rehearsed : { body: rehearsed! };
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
}

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
