import { type Admitted, admit, type Candidate } from "#src/domain/admit.ts";
import { decide } from "#src/domain/decide.ts";
import type { Problem } from "#src/domain/problems.ts";
import { emptyState, type Mark, type StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { loadFirstSeen, loadHistories } from "#src/histories.ts";
import { inTransaction, rows, type Tx } from "#src/db.ts";
import { loadReports } from "#src/marks.ts";
import { readFacts } from "#api/intake/facts.ts";
import { firstMarkGone, presentReport, type ReportOutput, reportOf } from "#api/reports.ts";
import type { Services } from "#api/services.ts";

/** Later than every stored mark: a rehearsed one that came in now would be the last. */
const rehearsalId = Number.MAX_SAFE_INTEGER;
const stranger = -1;

/**
 * `X-Dry-Run: 1` (decisions.md 3): the checks and the verdict that a mark would meet now, from the same rules and
 * facts. Nothing is stored, so `report_id` is empty; a duplicate is shown with its first mark.
 */
export const rehearse = (
  services: Services,
  candidate: Candidate,
): Promise<ReportOutput | Problem> =>
  inTransaction(services.db, async (tx) => {
    const { facts, reporterIds } = await readFacts(tx, [candidate], services.config);
    const admission = admit(facts, candidate, rehearsalId, services.config);
    if (admission.kind === "refused") return admission.problem;
    if (admission.kind === "duplicate") {
      const [first] = await loadReports(tx, [admission.of]);
      return first === undefined ? firstMarkGone : presentReport(services, first, true);
    }
    const report = reportOf(admission);
    if (report.outcome !== null)
      return { ...presentReport(services, report, false), report_id: "" };
    const reporterId = reporterIds.get(candidate.reporter) ?? stranger;
    const { outcome, state } = await verdict(services, tx, admission, reporterId, facts.now);
    const verdictReport = { ...report, ...outcome };
    return {
      ...presentReport(services, verdictReport, false),
      report_id: "",
      fuel: view(state, facts.now, services.config.statusLifetimeMs),
    };
  });

/** What the fold would say of the mark, on top of all marks that are stored, also those still waiting. */
async function verdict(
  { config }: Services,
  tx: Tx,
  { id, effectiveAt, candidate, remote, needed, rule }: Admitted,
  reporterId: number,
  now: number,
) {
  const { stationId, status, fuels, fuelsNo, queue, prices, limitL, noCash, fuelCardsOnly } =
    candidate;
  const mark = { id, at: effectiveAt, reporterId, status, remote, needed, rule } as const;
  const statement = { fuels, fuelsNo, queue, prices, limitL, noCash, fuelCardsOnly };
  const histories = await loadHistories(tx, [stationId], 0, "processed and waiting");
  const history = histories.get(stationId)!;
  const known = await loadFirstSeen(
    tx,
    new Set([reporterId, ...history.marks.map((one) => one.reporterId)]),
  );
  // The first mark of somebody new is when it would first be seen.
  const firstSeen = (id: number): number => (id === stranger ? now : known(id));
  const [row] = await rows<{ state: StationState | null }>(
    tx,
    "select state from station_status where station_id = ?",
    [stationId],
  );
  const facts = { state: row?.state ?? emptyState, opinions: [], history };
  const arriving = { ...mark, ...statement } as Mark;
  const decision = decide(facts, { marks: [arriving], seeds: [] }, firstSeen, now, config);
  return { outcome: decision.outcomes.get(id)!, state: decision.state };
}
