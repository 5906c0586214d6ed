import { admit, type Admitted, type IncomingMark } from "#src/domain/admit.ts";
import type { Decision } from "#src/domain/decide.ts";
import {
  type DuplicateOf,
  presentReport,
  type Report,
  type ReportOutput,
} from "#src/contract/present.ts";
import type { Refusal } from "#src/contract/refusals.ts";
import type { Mark } from "#src/domain/state.ts";
import { view, withChance } from "#src/domain/view.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { inTransaction, type Tx } from "#src/infrastructure/db.ts";
import { grouped } from "#src/infrastructure/lists.ts";
import { decideStation, loadStationFacts } from "#src/marks/station-facts.ts";
import { loadReports, networkOf } from "#src/marks/marks.ts";
import { duplicateOf, type FirstMark, firstMarkOf, loadFirstMarks } from "#src/marks/first-mark.ts";
import { readFacts } from "#api/marks/intake-rows.ts";
import { firstMarkGone, fuelNow, type MarkDeps, reportOf } from "#api/marks/intake.ts";

/** Above every stored id: tried marks would be the last if they came in now. */
const firstId = Number.MAX_SAFE_INTEGER - 1000;

/**
 * `X-Dry-Run` (decisions 3.19): the checks and the verdicts that these marks would meet now, in this order, from
 * the same rules and facts. Nothing is stored, so `report_id` is empty; a duplicate is shown with its first mark.
 */
export const dryRun = (
  services: MarkDeps,
  incomingMarks: readonly IncomingMark[],
): Promise<(ReportOutput | Refusal)[]> =>
  inTransaction(services.db, async (tx) => {
    const { config } = services;
    const { facts, reporterIds } = await readFacts(tx, incomingMarks, config, services.clock);
    const admissions = incomingMarks.map((incomingMark, index) =>
      admit(facts, incomingMark, firstId + index, config),
    );
    const accepted = admissions.filter((admission) => admission.kind === "accepted");
    const counted = accepted.filter(({ review }) => review === "none");
    // For a new reporter an id that no row has.
    const ids = new Map<string, number>();
    for (const { incomingMark } of counted)
      if (!ids.has(incomingMark.reporter))
        ids.set(incomingMark.reporter, reporterIds.get(incomingMark.reporter) ?? -1 - ids.size);
    const seen = [...ids].map(([hash, id]) => [id, facts.reporters.get(hash)!.firstSeen!] as const);
    const decisions = await decideAll(tx, counted, { ids, seen }, facts.now, config);
    const repeated = admissions.flatMap((admission) =>
      admission.kind === "duplicate" && admission.of < firstId ? admission : [],
    );
    const stored = await loadReports(
      tx,
      repeated.map(({ of }) => of),
    );
    const reports = new Map(
      [...stored, ...triedReports(accepted, decisions)].map((report) => [report.id, report]),
    );
    // The first marks of repeated external ids: stored ones, and tried ones before.
    const firsts = await loadFirstMarks(
      tx,
      repeated.flatMap(({ of, named }) => (named ? of : [])),
    );
    for (const mark of accepted) firsts.set(mark.id, firstMarkOf(mark, facts.now));
    return admissions.map((admission, index) => {
      if (admission.kind === "refused") return admission.problem;
      const isRepeat = admission.kind === "duplicate";
      const report = reports.get(isRepeat ? admission.of : admission.id);
      if (report === undefined) return firstMarkGone;
      const shownReport = presentReport(report, fuelNow(services, report.stationId), isRepeat);
      const first = isRepeat && admission.named ? firsts.get(admission.of) : undefined;
      const output =
        first === undefined
          ? shownReport
          : { ...shownReport, duplicate_of: duplicateOfTried(incomingMarks[index]!, first) };
      if (report.id < firstId) return output;
      const decision = decisions.get(report.stationId);
      const shown = decision && view(decision.state, facts.now, config.statusLifetimeMs);
      const fuel = shown ? withChance(shown, output.fuel.chance) : output.fuel;
      return { ...output, report_id: "", fuel };
    });
  });

/** The reporters of the tried marks: ids by hash, and the time, ms, at which each would first be seen, by its id. */
interface DryRunReporters {
  ids: ReadonlyMap<string, number>;
  seen: readonly (readonly [id: number, seen: number])[];
}

/** The worker's decisions by station, as if it processed the marks now, after those that still wait for it. */
async function decideAll(
  tx: Tx,
  marks: readonly Admitted[],
  reporters: DryRunReporters,
  now: number,
  config: Config,
): Promise<Map<string, Decision>> {
  const coming = new Map<string, Mark[]>();
  for (const [id, some] of grouped(marks, ({ incomingMark }) => incomingMark.stationId))
    coming.set(
      id,
      some.map((mark) => markOf(mark, reporters.ids)),
    );
  const found = await loadStationFacts(tx, [...coming.keys()], { now, coming }, config);
  const firstSeen = new Map([...found.firstSeen, ...reporters.seen]);
  const decisions = new Map<string, Decision>();
  for (const one of found.stations) {
    const arrivals = {
      ...one.arrivals,
      marks: [...one.arrivals.marks, ...coming.get(one.stationId)!],
    };
    const decision = await decideStation(tx, { ...one, arrivals }, firstSeen, now, config);
    decisions.set(one.stationId, decision);
  }
  return decisions;
}

function markOf(admitted: Admitted, ids: DryRunReporters["ids"]): Mark {
  const { id, effectiveAt: at, incomingMark, remote, needed, rule, pricesNeeded } = admitted;
  const { status, fuels, fuelsNo, queue, prices, limitL, noCash, fuelCardsOnly } = incomingMark;
  const reporterId = ids.get(incomingMark.reporter)!;
  const network = networkOf(admitted);
  const statement = { fuels, fuelsNo, queue, prices, limitL, noCash, fuelCardsOnly };
  const needs = pricesNeeded === null ? {} : { pricesNeeded };
  return {
    ...{ id, at, reporterId, status, remote, needed, rule },
    ...{ ...statement, ...network, ...needs },
  } as Mark;
}

/** A tried mark has no `report_id`. */
const duplicateOfTried = (mark: IncomingMark, first: FirstMark): DuplicateOf => ({
  ...duplicateOf(mark, first),
  ...(first.id < firstId ? {} : { report_id: "" }),
});

const triedReports = (
  accepted: readonly Admitted[],
  decisions: ReadonlyMap<string, Decision>,
): Report[] =>
  accepted.map((mark) => {
    const { outcomes } = decisions.get(mark.incomingMark.stationId) ?? {};
    return { ...reportOf(mark), ...outcomes?.get(mark.id) };
  });
