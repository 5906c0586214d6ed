import type { Candidate } from "#src/domain/admit.ts";
import { isProblem, type Problem, refuse } from "#src/domain/problems.ts";
import { parseReport, type ReportBody } from "#src/domain/report.ts";
import type { KeyInfo } from "#src/keys.ts";
import { partnerReporter } from "#src/reporter.ts";
import type { Services } from "#api/services.ts";

export const stationNotFound = (id: string): Problem =>
  refuse(
    "station-not-found",
    `There is no station "${id.slice(0, 64)}" in service. Take ids from /stations or /stations/all.`,
  );

/** A partner's report as a mark to be admitted, or why it cannot be one (decisions.md 3: 422 before 404). */
export function candidateOf(
  services: Pick<Services, "config" | "clock" | "places">,
  key: KeyInfo,
  stationId: string,
  body: ReportBody,
): Candidate | Problem {
  const { config, clock, places } = services;
  const parsed = parseReport(body, clock(), config.observedAheadMs);
  if (isProblem(parsed)) return parsed;
  const station = places.find(stationId);
  if (station === undefined) return stationNotFound(stationId);
  return {
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
  };
}
