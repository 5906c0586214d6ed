import { isProblem, refuse } from "#src/domain/problems.ts";
import { parsePrefer } from "#src/domain/prefer.ts";
import { parseReport, reportBody } from "#src/domain/report.ts";
import { partnerReporter } from "#src/reporter.ts";
import { awaitReport, presentReport } from "#api/reports.ts";
import { route } from "#api/route.ts";
import type { Services } from "#api/services.ts";

export const stationNotFound = (id: string) =>
  refuse(
    "station-not-found",
    `There is no station "${id.slice(0, 64)}" in service. Take ids from /stations or /stations/all.`,
  );

/** POST /stations/{station_id}/report: partner-api.md 4.9, decisions.md 3 and 5. */
export const reportRoute = (services: Services) =>
  route({
    method: "POST",
    path: "/stations/{station_id}/report",
    access: "secret",
    summary: "Forward a mark of one of your users",
    body: reportBody,
    handle: async ({ params, body, key, headers }) => {
      const { config, clock, places, intake } = services;
      const parsed = parseReport(body, clock(), config.observedAheadMs);
      if (isProblem(parsed)) return parsed;
      const stationId = params["station_id"]!;
      const station = places.find(stationId);
      if (station === undefined) return stationNotFound(stationId);
      const admission = await intake.submit({
        ...parsed,
        stationId,
        station,
        nearbyIds: parsed.status === "no" ? places.within(station, config.nearbyNoM) : [],
        reporter: partnerReporter(config.reporterPepper, key.partnerId, body.user_ref),
        partnerId: key.partnerId,
        keyId: key.id,
        viewer: null,
        externalId: body.external_id ?? null,
        confirmMin: key.confirmMin,
        reports: key.reports,
        acceptRemote: key.partner.acceptRemote,
        massNoLimit: key.massNoLimit,
      });
      if (admission.kind === "refused") return admission.problem;
      const prefer = parsePrefer(headers["prefer"] as string | undefined);
      const waitMs = prefer.respondAsync
        ? 0
        : Math.min(config.waitMs, (prefer.waitS ?? Number.POSITIVE_INFINITY) * 1000);
      const report = await awaitReport(services, admission, waitMs);
      if (report === null)
        return refuse(
          "upstream-unavailable",
          "The first mark with this external_id cannot be read now. Try again.",
          { retryAfterS: 5 },
        );
      const applied = prefer.respondAsync
        ? "respond-async"
        : prefer.waitS !== null && prefer.waitS * 1000 <= config.waitMs
          ? `wait=${prefer.waitS}`
          : null;
      const output = presentReport(services, report, admission.kind === "duplicate");
      return {
        status: report.outcome === null ? 202 : 200,
        headers: {
          ...(applied === null ? {} : { "Preference-Applied": applied }),
          ...(report.outcome === null ? { Location: `/api/v1/partner/reports/${report.id}` } : {}),
        },
        body: output,
      };
    },
  });
