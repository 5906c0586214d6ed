import type { IncomingMark } from "#src/domain/admit.ts";
import { isRefusal, type Refusal, refuse } from "#src/contract/refusals.ts";
import { parseReport, type ReportBody, type StatementBody } from "#src/contract/report.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import { type KeyInfo, markLimitsOf } from "#src/keys/key-info.ts";
import { deviceReporter, partnerReporter, viewerHash } from "#src/marks/reporter.ts";
import type { Services } from "#api/http/services.ts";

type Needs = Pick<Services, "config" | "clock" | "model" | "priceMedians">;
/** Who sends a mark, and in what way. */
type Sender = Pick<IncomingMark, "reporter" | "partnerId" | "viewer" | "externalId" | "confirms">;

export const stationNotFound = (id: string): Refusal =>
  refuse(
    "station-not-found",
    `There is no station "${id.slice(0, 64)}" in service. Take ids from /stations or /stations/all.`,
  );

/** A partner's report as a mark to be admitted, or why it cannot be one (decisions 3: 422 before 404). */
export const partnerMarkOf = (
  services: Needs,
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
 * The same of a widget's mark (decisions 6): its reporter is a device, the same whichever partner's page shows the
 * map, and new devices are counted by the viewer's network instead of by the partner.
 */
export function widgetMarkOf(
  services: Needs,
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
  { config, clock, model: { locations }, priceMedians }: Needs,
  key: KeyInfo,
  stationId: string,
  body: StatementBody,
  sender: Sender,
): IncomingMark | Refusal {
  const now = clock();
  const parsed = parseReport(body, now, config.observedAheadMs);
  if (isRefusal(parsed)) return parsed;
  const station = locations.find(stationId);
  if (station === undefined) return stationNotFound(stationId);
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
    ...markLimitsOf(key, now, config),
  };
}
