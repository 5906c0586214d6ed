import type { Admission, Admitted, IncomingMark } from "#src/domain/admit.ts";
import { presentReport, type Report, type ReportOutput } from "#src/contract/present.ts";
import { type Refusal, refuse } from "#src/contract/refusals.ts";
import { emptyState, type FuelBlock } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { duplicateOf, loadFirstMarks } from "#src/marks/first-mark.ts";
import { loadReports } from "#src/marks/marks.ts";
import { apiBase } from "#api/http/route.ts";
import type { MarkDeps } from "#api/marks/deps.ts";

/** The first mark of a duplicate has gone out of retention between two statements. */
export const firstMarkGone = refuse(
  "upstream-unavailable",
  "The first mark with this external_id cannot be read now. Try again.",
  { retryAfterS: 5 },
);

/** The path of a mark's state. */
export const reportPath = (id: number): string => `${apiBase}/reports/${id}`;

/** The station's fuel block as the next read will show it; for a station out of service an empty one. */
export const fuelNow = ({ model, clock, config }: MarkDeps, stationId: string): FuelBlock =>
  model.fuel(stationId, clock()) ?? view(emptyState, clock(), config.statusLifetimeMs);

/**
 * Brings this process up to outcomes that the database has told already: the next read must show them, and no process
 * may find a rectangle from before them (decisions 7 and 8). While that is not certain, the reports are given
 * without their outcomes.
 */
export async function caughtUp(
  { follower, invalidation }: MarkDeps,
  reports: readonly Report[],
): Promise<readonly Report[]> {
  if (reports.every(({ outcome }) => outcome === null)) return reports;
  await follower.refresh();
  if (await invalidation.publish()) return reports;
  return reports.map((report) => ({ ...report, outcome: null }));
}

/** The report of an admitted mark, or of the mark that it repeats; resolves after `waitMs` at the latest. */
export async function awaitOutput(
  services: MarkDeps,
  mark: IncomingMark,
  admission: Exclude<Admission, { kind: "refused" }>,
  waitMs: number,
): Promise<{ report: Report; output: ReportOutput } | Refusal> {
  if (admission.kind === "accepted") {
    const report = await awaitOutcome(services, reportOf(admission), waitMs);
    return { report, output: presentReport(report, fuelNow(services, report.stationId), false) };
  }
  const { of, named } = admission;
  const [stored] = await loadReports(services.db, [of]);
  const first = (await loadFirstMarks(services.db, named ? [of] : [])).get(of);
  if (stored === undefined || (named && first === undefined)) return firstMarkGone;
  const [known] = await caughtUp(services, [stored]);
  const report = stored.outcome === null ? await awaitOutcome(services, stored, waitMs) : known!;
  const output = presentReport(report, fuelNow(services, report.stationId), true);
  return {
    report,
    output: first === undefined ? output : { ...output, duplicate_of: duplicateOf(mark, first) },
  };
}

/** The same report with its outcome, if there is one within `waitMs`. */
async function awaitOutcome(
  { waiters }: Pick<MarkDeps, "waiters">,
  report: Report,
  waitMs: number,
): Promise<Report> {
  return report.outcome === null ? ((await waiters.wait(report.id, waitMs)) ?? report) : report;
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
