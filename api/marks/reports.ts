import type { Admission, Admitted } from "#src/domain/admit.ts";
import { refuse } from "#src/contract/refusals.ts";
import { emptyState, type FuelBlock } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { loadReports, type Report } from "#src/marks/marks.ts";
import { apiBase } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

/** A report's output, docs/contract.md 2.8 and docs/decisions.md 5. */
export interface ReportOutput {
  report_id: string;
  accepted: boolean;
  remote: boolean;
  published: {
    outcome: string;
    status: string;
    resolution_reason: string;
    needed: number | null;
    have: number | null;
    rule: string | null;
  };
  fuel: FuelBlock;
  duplicate: boolean;
}

/** The first mark of a duplicate has gone out of retention between two statements. */
export const firstMarkGone = refuse(
  "upstream-unavailable",
  "The first mark with this external_id cannot be read now. Try again.",
  { retryAfterS: 5 },
);

/** Where a mark's outcome can be asked for. */
export const reportPath = (id: number): string => `${apiBase}/reports/${id}`;

/** The station's fuel block as the next read will show it; of a station out of service that of one without marks. */
export const fuelNow = ({ model, clock, config }: Services, stationId: string): FuelBlock =>
  model.fuel(stationId, clock()) ?? view(emptyState, clock(), config.statusLifetimeMs);

/** Shows a report; one without an outcome as `queued`. */
export function presentReport(
  services: Services,
  report: Report,
  duplicate: boolean,
): ReportOutput {
  const fuel = fuelNow(services, report.stationId);
  const queued = report.outcome === null;
  return {
    report_id: String(report.id),
    accepted: report.accepted,
    remote: report.remote,
    published: {
      outcome: report.outcome ?? "queued",
      status: (queued ? null : report.status) ?? fuel.status,
      resolution_reason: (queued ? null : report.reason) ?? fuel.resolution_reason,
      needed: queued ? null : report.needed,
      have: queued ? null : report.have,
      rule: queued ? null : report.rule,
    },
    fuel,
    duplicate,
  };
}

/**
 * Brings this process up to an outcome that the database has told already: the next read must show it, and no process
 * may find a rectangle from before it (docs/decisions.md 7 and 8). While that is not certain, the report is given
 * without the outcome.
 */
export async function caughtUp(
  { follower, invalidation }: Services,
  report: Report,
): Promise<Report> {
  if (report.outcome === null) return report;
  await follower.refresh();
  return (await invalidation.publish()) ? report : { ...report, outcome: null };
}

/**
 * The report of a mark that was just admitted or of the one it repeats, waiting up to `waitMs` for its outcome.
 * Null when the first mark of a duplicate is gone.
 */
export async function awaitReport(
  services: Services,
  admission: Exclude<Admission, { kind: "refused" }>,
  waitMs: number,
): Promise<Report | null> {
  const { waiters, db } = services;
  if (admission.kind === "duplicate") {
    const [first] = await loadReports(db, [admission.of]);
    if (first === undefined) return null;
    if (first.outcome !== null) return caughtUp(services, first);
    return (await waiters.wait(first.id, waitMs)) ?? first;
  }
  const stored = reportOf(admission);
  if (stored.outcome !== null) return stored;
  return (await waiters.wait(stored.id, waitMs)) ?? stored;
}

/** The report of a mark that was just admitted: held and expired ones have their outcome already. */
export const reportOf = ({ id, incomingMark, remote, needed, rule, review }: Admitted): Report => ({
  id,
  stationId: incomingMark.stationId,
  partnerId: incomingMark.partnerId,
  accepted: review !== "expired",
  remote,
  outcome: review === "none" ? null : review,
  status: null,
  reason: null,
  needed,
  // Nobody's opinion supports a held or expired mark's version because of it.
  have: review === "none" ? null : 0,
  rule,
});
