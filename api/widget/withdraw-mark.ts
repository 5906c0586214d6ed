import { markReplies, stationNotFound } from "#api/marks/submit-mark.ts";
import { caughtUp, firstMarkGone, fuelNow, reportPath } from "#api/marks/intake.ts";
import { orThrow, Refused } from "#api/http/errors.ts";
import { route } from "#api/http/route.ts";
import type { WidgetDeps } from "#api/widget/deps.ts";
import { refuse } from "#src/contract/refusals.ts";
import { readPrefer, takeBackBody } from "#src/contract/report.ts";
import { presentReport, type Report } from "#src/contract/present.ts";
import { deviceReporter, loadReports } from "#src/marks/marks.ts";
import { withdrawMark } from "#src/marks/withdraw-mark.ts";

/**
 * POST /widget/stations/{station_id}/take-back: the device's newest mark there is withdrawn, as long as it is not older
 * than two minutes; decisions 15.35. Answers like a report, with the station's fuel block without the mark.
 */
export const widgetWithdrawRoute = (services: WidgetDeps) =>
  route({
    method: "POST",
    path: "/widget/stations/{station_id}/take-back",
    access: "any",
    summary: "Take a mark of the widget back",
    answers: {
      operationId: "takeBackFromWidget",
      tag: "Widget",
      description:
        "Withdraws the device's newest mark on this station, up to two minutes after the mark and once in 20 minutes. The station is calculated again without it, and the device may mark it again at once. `published.outcome` is `superseded`, or `queued` while the station waits to be calculated.",
      replies: {
        200: { ...markReplies[200]!, description: "Taken back; `fuel` is without the mark" },
        202: {
          ...markReplies[202]!,
          description: "Taken back; the station is about to be calculated without the mark",
        },
      },
      problems: ["station-not-found", "reports-disabled", "nothing-to-take-back"],
      takes: ["Prefer"],
      bodyExamples: { "the newest mark here": { device: "5f1d7c2e-anonymous-device" } },
    },
    body: takeBackBody,
    handle: async (ctx) => {
      const { db, config, model, producer } = services;
      const stationId = model.presentId(ctx.params["station_id"]!);
      if (model.locations.find(stationId) === undefined)
        throw new Refused(stationNotFound(stationId));
      if (!ctx.state.key.reports) throw new Refused(reportsDisabled);
      const reporter = deviceReporter(config.reporterPepper, ctx.state.body.device);
      const { id } = orThrow(await withdrawMark(db, config, reporter, stationId));
      producer.wakeMarks([stationId]);
      const { waitMs, applied } = readPrefer(ctx.get("Prefer"), config.waitMs);
      const report = await untilFolded(
        services,
        id,
        waitMs - (performance.now() - ctx.state.arrivedAt),
      );
      const queued = report.outcome === null;
      ctx.status = queued ? 202 : 200;
      if (applied !== null) ctx.set("Preference-Applied", applied);
      if (queued) ctx.set("Location", reportPath(id));
      ctx.body = presentReport(report, fuelNow(services, report.stationId), false);
    },
  });

const reportsDisabled = refuse(
  "reports-disabled",
  "Marks are switched off for this key. Ask the operator to switch them on.",
);

/** The report of the mark taken back; without an outcome when its station is not folded anew within `waitMs`. */
async function untilFolded(services: WidgetDeps, id: number, waitMs: number): Promise<Report> {
  const { db, waiters } = services;
  const read = async (): Promise<Report> =>
    orThrow<Report>((await loadReports(db, [id]))[0] ?? firstMarkGone);
  // Before the first look, or a fold between the two would wake nobody.
  waiters.expect([id]);
  const first = await read().catch((error: unknown) => {
    waiters.forget([id]);
    throw error;
  });
  const isFolded = first.outcome !== null;
  if (isFolded) waiters.forget([id]);
  const report = !isFolded && (await waiters.wait(id, waitMs)) !== null ? await read() : first;
  return (await caughtUp(services, [report]))[0]!;
}
