import type { IncomingMark } from "#src/domain/admit.ts";
import { type Fault, isRefusal, type Refusal, refuse } from "#src/contract/refusals.ts";
import {
  batchBody,
  batchItem,
  type BatchItem,
  readDryRun,
  readPrefer,
} from "#src/contract/report.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";
import { minuteLimit } from "#api/http/minute-limit.ts";
import { isUnavailable } from "#src/infrastructure/db.ts";
import { compileCheck } from "#src/infrastructure/validation.ts";
import { partnerMarkOf } from "#api/marks/submit-mark.ts";
import { orThrow, problemObject, Refused } from "#api/http/errors.ts";
import { dryRun } from "#api/marks/dry-run.ts";
import { countRefusedMark } from "#api/http/middleware.ts";
import { awaitOutput, type MarkDeps } from "#api/marks/intake.ts";
import type { ReportOutput } from "#src/contract/present.ts";
import { reply } from "#api/openapi/answers.ts";
import {
  batchExample,
  batchResult,
  outputExample,
  queuedExample,
} from "#src/contract/shapes/marks.ts";
import { route } from "#api/http/route.ts";

const bodyLimit = 1024 * 1024;
/** Marks of batches in a minute, in one process, for each request that the partner may send in it (decisions 8.46). */
const marksARequest = 100;
const checkItem = compileCheck(batchItem, "body");

/** POST /reports: up to 500 marks at once, each with an outcome of its own (decisions 5). */
export const submitMarksRoute = (services: MarkDeps) => {
  const countMarks = minuteLimit(services, "marks in batches");
  return route({
    method: "POST",
    path: "/reports",
    access: "secret",
    summary: "Forward up to 500 marks of your users",
    answers: {
      operationId: "reportStations",
      tag: "Marks",
      description:
        "Up to 500 marks, 1 MiB. Each is checked by itself and meets the caps by itself; the call counts as one request. A minute takes 100 marks for each request that it takes, then 429. With `Prefer: wait=N` (up to 10) the answer has the outcomes that are known by then. A refused mark has `retry_after` in seconds where waiting helps.",
      replies: {
        200: reply(
          "A dry run (`X-Dry-Run`): what would become of each, in the order sent",
          batchResult,
          { reports: [{ ...outputExample, report_id: "" }], count: 1 },
        ),
        202: {
          ...reply("What became of each, in the order sent", batchResult, {
            reports: [queuedExample],
            count: 1,
          }),
          sometimes: ["Preference-Applied"],
        },
      },
      takes: ["Prefer", "X-Dry-Run"],
      bodyExamples: { "one mark": batchExample },
    },
    body: batchBody,
    bodyLimit,
    handle: async (ctx) => {
      const { body, key, requestId, arrivedAt } = ctx.state;
      const isDry = orThrow(readDryRun(ctx.headers["x-dry-run"])).dry;
      const shown = (result: ReportOutput | Refusal) =>
        isRefusal(result)
          ? {
              error: problemObject(result, services.config.problemBase, requestId),
              retry_after: result.retryAfterS,
            }
          : result;
      const { id, rpm } = key.partner;
      countMarks(String(id), body.reports.length, rpm * marksARequest);
      const read = body.reports.map((item, index) => readItem(services, key, item, index));
      if (isDry) {
        const reports = (await dryRunGood(services, read)).map(shown);
        ctx.body = { reports, count: reports.length };
        return;
      }
      const { reportsWaitMs } = services.config;
      const { waitMs, applied } = readPrefer(ctx.get("Prefer"), reportsWaitMs, 0);
      const readable = read.filter((item): item is IncomingMark => !isRefusal(item));
      const admitted = services.intake.submit(readable, ctx.state.span?.traceparent).values();
      let unread: unknown;
      const answers = await Promise.allSettled(
        read.map(async (incomingMark) => {
          if (isRefusal(incomingMark)) return incomingMark;
          const admission = await admitted.next().value!;
          if (admission.kind === "refused") return admission.problem;
          const leftMs = waitMs - (performance.now() - arrivedAt);
          try {
            const awaited = await awaitOutput(services, incomingMark, admission, leftMs);
            return isRefusal(awaited) ? awaited : awaited.output;
          } catch (error) {
            unread = error;
            return notRead;
          }
        }),
      );
      const lost = answers.filter((answer) => answer.status === "rejected");
      for (const [error, message] of [
        [lost[0]?.reason, "marks of a batch not stored"],
        [unread, "outcomes of a batch not read"],
      ] as const)
        if (error !== undefined) {
          const { message: what, stack } = error as Error;
          services.log.error({ request_id: requestId, error: { message: what, stack } }, message);
        }
      // Whoever forwards marks sends the call again, as with a single one.
      const unavailable = lost.filter(({ reason }) => isUnavailable(reason)).length;
      if (readable.length > 0 && unavailable === readable.length) throw new Refused(noneStored);
      const results = answers.map((answer) =>
        answer.status === "fulfilled" ? answer.value : notStored,
      );
      for (const result of results)
        if (isRefusal(result)) countRefusedMark(services, ctx, result.code);
      const reports = results.map(shown);
      ctx.status = 202;
      if (applied !== null) ctx.set("Preference-Applied", applied);
      ctx.body = { reports, count: reports.length };
    },
  });
};

const notStored = refuse(
  "upstream-unavailable",
  "This mark could not be stored. Send it again with the same external_id.",
  { retryAfterS: 5 },
);

const noneStored = refuse(
  "upstream-unavailable",
  "No mark could be stored. Send the call again with the same external_ids.",
  { retryAfterS: 5 },
);

/** The mark is safe; only what became of it is not known here. */
const notRead = refuse(
  "upstream-unavailable",
  "This mark is stored, but what became of it cannot be read now. Send it again only if it has an external_id.",
  { retryAfterS: 5 },
);

/** Tries readable marks together; the others keep their problem, each in its place. */
async function dryRunGood(
  services: MarkDeps,
  read: readonly (IncomingMark | Refusal)[],
): Promise<(ReportOutput | Refusal)[]> {
  const good = read.filter((item): item is IncomingMark => !isRefusal(item));
  const tried = (await dryRun(services, good)).values();
  return read.map((item) => (isRefusal(item) ? item : tried.next().value!));
}

function readItem(
  services: MarkDeps,
  key: KeyInfo,
  item: unknown,
  index: number,
): IncomingMark | Refusal {
  const faults = checkItem(item);
  const within = ({ loc, ...rest }: Fault): Fault => ({
    loc: ["body", "reports", index, ...loc.slice(1)],
    ...rest,
  });
  if (faults !== null) return refuse("validation-failed", faults.map(within));
  const { station_id: stationId, ...report } = item as BatchItem;
  const incomingMark = partnerMarkOf(services, key, stationId, report);
  if (!isRefusal(incomingMark) || !Array.isArray(incomingMark.detail)) return incomingMark;
  return { ...incomingMark, detail: incomingMark.detail.map(within) };
}
