import type { IncomingMark } from "#src/domain/admit.ts";
import { isRefusal, type ProblemCode, type Refusal, refuse } from "#src/contract/refusals.ts";
import {
  parseReport,
  readDryRun,
  readPrefer,
  reportBody,
  type ReportBody,
  type StatementBody,
} from "#src/contract/report.ts";
import {
  outputExample,
  queuedExample,
  reportExample,
  reportOutput,
} from "#src/contract/shapes/marks.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import { type KeyInfo, newUsersLimitOf } from "#src/keys/key-store.ts";
import { deviceReporter, partnerReporter, viewerHash } from "#src/marks/marks.ts";
import { orThrow, Refused } from "#api/http/errors.ts";
import { type ApiContext, route } from "#api/http/route.ts";
import { dryRun } from "#api/marks/dry-run.ts";
import { awaitOutput, type MarkDeps, reportPath } from "#api/marks/intake.ts";
import { reply, type Answers } from "#api/openapi/answers.ts";

/** POST /stations/{station_id}/report: docs/contract.md 4.9, decisions 3 and 5. */
export const submitMarkRoute = (services: MarkDeps) =>
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
      return answerMark(services, ctx, () =>
        partnerMarkOf(services, key, ctx.params["station_id"]!, body),
      );
    },
  });

/**
 * Takes one mark in, or tries it (`X-Dry-Run`), and answers as decisions 5 says: 200 with the outcome, or
 * 202 when it does not come within the wait.
 */
export async function answerMark(
  services: MarkDeps,
  ctx: ApiContext,
  readMark: () => IncomingMark | Refusal,
): Promise<void> {
  const isDry = orThrow(readDryRun(ctx.headers["x-dry-run"])).dry;
  const incomingMark = orThrow(readMark());
  if (isDry) {
    const [result] = await dryRun(services, [incomingMark]);
    ctx.body = orThrow(result!);
    return;
  }
  const admission = await services.intake.submit([incomingMark], ctx.state.span?.traceparent)[0]!;
  if (admission.kind === "refused") throw new Refused(admission.problem);
  const { waitMs, applied } = readPrefer(ctx.get("Prefer"), services.config.waitMs);
  // The time of metering and storing is part of the caller's wait.
  const leftMs = waitMs - (performance.now() - ctx.state.arrivedAt);
  const { report, output } = orThrow(await awaitOutput(services, incomingMark, admission, leftMs));
  const queued = report.outcome === null;
  ctx.status = queued ? 202 : 200;
  if (applied !== null) ctx.set("Preference-Applied", applied);
  if (queued) ctx.set("Location", reportPath(report.id));
  ctx.body = output;
}

/** Problem codes of the checks of decisions 3 for a mark. */
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

/** Answers to one mark, decisions 5. */
export const markReplies: Answers["replies"] = {
  200: {
    ...reply(
      "Stored and processed; a repeat (`duplicate`) or a dry run (`X-Dry-Run`)",
      reportOutput,
      outputExample,
    ),
    sometimes: ["Preference-Applied"],
  },
  202: {
    ...reply("Stored; ask `Location` for the outcome", reportOutput, queuedExample),
    headers: ["Location"],
    sometimes: ["Preference-Applied"],
  },
};

type Deps = Pick<MarkDeps, "config" | "clock" | "model" | "priceMedians">;
/** The sender's part of a mark. */
type Sender = Pick<IncomingMark, "reporter" | "partnerId" | "viewer" | "externalId" | "confirms">;

export const stationNotFound = (id: string): Refusal =>
  refuse(
    "station-not-found",
    `There is no station "${id.slice(0, 64)}" in service. Take ids from /stations or /stations/all.`,
  );

/** A partner's report as a mark to be admitted, or why it cannot be one (decisions 3: 422 before 404). */
export const partnerMarkOf = (
  services: Deps,
  key: KeyInfo,
  stationId: string,
  body: ReportBody,
): IncomingMark | Refusal =>
  markOf(services, key, stationId, body, {
    reporter: partnerReporter(services.config.reporterPepper, key.partnerId, body.user_ref),
    partnerId: key.partnerId,
    viewer: null,
    externalId: body.external_id ?? null,
    confirms: false,
  });

/**
 * The same for a widget's mark (decisions 6): its reporter is a device, the same whichever partner's page shows the
 * map, and new devices are counted by the viewer's network instead of by the partner.
 */
export function widgetMarkOf(
  services: Deps,
  { key, ip }: { key: KeyInfo; ip: string },
  stationId: string,
  body: StatementBody & { device: string; external_id?: string | null },
  confirms: boolean,
): IncomingMark | Refusal {
  const { reporterPepper } = services.config;
  return markOf(services, key, stationId, body, {
    reporter: deviceReporter(reporterPepper, body.device),
    partnerId: null,
    viewer: viewerHash(reporterPepper, viewerNetwork(ip)),
    externalId: body.external_id ?? null,
    confirms,
  });
}

function markOf(
  { config, clock, model, priceMedians }: Deps,
  key: KeyInfo,
  askedId: string,
  body: StatementBody,
  sender: Sender,
): IncomingMark | Refusal {
  const now = clock();
  const parsed = parseReport(body, now, config.observedAheadMs);
  if (isRefusal(parsed)) return parsed;
  const { locations } = model;
  const station = locations.find(askedId);
  if (station === undefined) return stationNotFound(askedId);
  const stationId = model.presentId(askedId);
  return {
    ...parsed,
    ...sender,
    stationId,
    station,
    nearbyIds: parsed.status === "no" ? locations.within(station, config.nearbyNoM) : [],
    medians: parsed.prices === null ? {} : priceMedians.at(station),
    keyId: key.id,
    confirmMin: key.confirmMin,
    reports: key.reports,
    acceptRemote: key.partner.acceptRemote,
    newUsersLimit: newUsersLimitOf(key, now, config),
  };
}
