import type { IncomingMark } from "#src/domain/admit.ts";
import type { ProblemCode, Refusal } from "#src/contract/refusals.ts";
import { type Answers, json } from "#api/openapi/answers.ts";
import { outputExample, queuedExample, reportOutput } from "#src/contract/shapes/marks.ts";
import { readDryRun } from "#src/contract/dry-run.ts";
import { readPrefer } from "#src/contract/prefer.ts";
import { dryRun } from "#api/marks/dry-run.ts";
import { awaitOutput, reportPath } from "#api/marks/reports.ts";
import { orThrow, Refused } from "#api/http/errors.ts";
import type { ApiContext } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

/**
 * Takes one mark in, or tries it (`X-Dry-Run`), and answers as decisions 5 says: 200 with the outcome, or
 * 202 when it does not come within the wait.
 */
export async function answerMark(
  services: Services,
  ctx: ApiContext,
  read: IncomingMark | Refusal,
): Promise<void> {
  const isDry = orThrow(readDryRun(ctx.headers["x-dry-run"])).dry;
  const incomingMark = orThrow(read);
  if (isDry) {
    const [result] = await dryRun(services, [incomingMark]);
    ctx.body = orThrow(result!);
    return;
  }
  const admission = await services.intake.submit(incomingMark, ctx.state.span?.traceparent);
  if (admission.kind === "refused") throw new Refused(admission.problem);
  const { waitMs, applied } = readPrefer(ctx.get("Prefer"), services.config.waitMs);
  // What the meter and the storing took is part of the caller's wait.
  const leftMs = waitMs - (performance.now() - ctx.state.arrivedAt);
  const { report, output } = orThrow(await awaitOutput(services, incomingMark, admission, leftMs));
  const queued = report.outcome === null;
  ctx.status = queued ? 202 : 200;
  if (applied !== null) ctx.set("Preference-Applied", applied);
  if (queued) ctx.set("Location", reportPath(report.id));
  ctx.body = output;
}

/** What the checks of decisions 3 may say of a mark. */
export const markProblems: readonly ProblemCode[] = [
  "station-not-found",
  "reports-disabled",
  "station-cooldown",
  "user-rate-limited",
  "new-users-limit",
  "too-far",
  "bad-grade",
  "bad-timestamp",
];

/** Of one mark, decisions 5. */
export const markReplies: Answers["replies"] = {
  200: {
    description: "Stored and processed; a repeat (`duplicate`) or a rehearsal (`X-Dry-Run`)",
    sometimes: ["Preference-Applied"],
    forms: json(reportOutput, outputExample),
  },
  202: {
    description: "Stored; ask `Location` for the outcome",
    headers: ["Location"],
    sometimes: ["Preference-Applied"],
    forms: json(reportOutput, queuedExample),
  },
};
