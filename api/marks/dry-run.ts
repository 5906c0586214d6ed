import { type Admission, admit, type Admitted, type IncomingMark } from "#src/domain/admit.ts";
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
import { decideStation, loadStationFacts } from "#src/marks/facts/station-facts.ts";
import { loadReports, networkOf } from "#src/marks/marks.ts";
import { duplicateOf, type FirstMark, firstMarkOf, loadFirstMarks } from "#src/marks/first-mark.ts";
import { readFacts } from "#api/marks/intake-rows.ts";
import { firstMarkGone, fuelNow, reportOf } from "#api/marks/outcomes.ts";
import type { MarkDeps } from "#api/marks/deps.ts";

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
    const reporters = reportersOf(
      counted,
      reporterIds,
      (hash) => facts.reporters.get(hash)!.firstSeen!,
    );
    const decisions = await decideAll(tx, counted, reporters, facts.now, config);
    const reports = await reportsOf(tx, admissions, decisions);
    const firsts = await firstMarksOf(tx, admissions, facts.now);
    return admissions.map((admission, index) => {
      if (admission.kind === "refused") return admission.problem;
      const repeated = admission.kind === "duplicate";
      const report = reports.get(repeated ? admission.of : admission.id);
      if (report === undefined) return firstMarkGone;
      const shownReport = presentReport(report, fuelNow(services, report.stationId), repeated);
      const first = repeated && admission.named ? firsts.get(admission.of) : undefined;
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

/** The reporters of the tried marks. */
interface DryRunReporters {
  /** The row's id, or for a new reporter an id that no row has. */
  idOf: (mark: Admitted) => number;
  /** Times at which reporters would first be seen, by their first mark that counts: ms. */
  firstSeen: ReadonlyMap<number, number>;
}

function reportersOf(
  marks: readonly Admitted[],
  reporterIds: ReadonlyMap<string, number>,
  seenAt: (reporter: string) => number,
): DryRunReporters {
  const ids = new Map<string, number>();
  for (const { incomingMark } of marks) {
    if (ids.has(incomingMark.reporter)) continue;
    ids.set(incomingMark.reporter, reporterIds.get(incomingMark.reporter) ?? -1 - ids.size);
  }
  return {
    idOf: ({ incomingMark }) => ids.get(incomingMark.reporter)!,
    firstSeen: new Map([...ids].map(([reporter, id]) => [id, seenAt(reporter)])),
  };
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
      some.map((mark) => markOf(mark, reporters)),
    );
  const found = await loadStationFacts(tx, [...coming.keys()], { now, coming }, config);
  const firstSeen = new Map([...found.firstSeen, ...reporters.firstSeen]);
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

function markOf(admitted: Admitted, reporters: DryRunReporters): Mark {
  const { id, effectiveAt: at, incomingMark, remote, needed, rule, pricesNeeded } = admitted;
  const { status, fuels, fuelsNo, queue, prices, limitL, noCash, fuelCardsOnly } = incomingMark;
  const reporterId = reporters.idOf(admitted);
  const network = networkOf(admitted);
  const statement = { fuels, fuelsNo, queue, prices, limitL, noCash, fuelCardsOnly };
  const needs = pricesNeeded === null ? {} : { pricesNeeded };
  return {
    ...{ id, at, reporterId, status, remote, needed, rule },
    ...{ ...statement, ...network, ...needs },
  } as Mark;
}

/** The first marks of repeated external ids: stored ones, and tried ones before. */
async function firstMarksOf(
  tx: Tx,
  admissions: readonly Admission[],
  now: number,
): Promise<Map<number, FirstMark>> {
  const tried = admissions.filter((admission) => admission.kind === "accepted");
  const repeated = admissions.flatMap((admission) =>
    admission.kind === "duplicate" && admission.named && admission.of < firstId ? admission.of : [],
  );
  const firsts = await loadFirstMarks(tx, repeated);
  for (const mark of tried) firsts.set(mark.id, firstMarkOf(mark, now));
  return firsts;
}

/** A tried mark has no `report_id`. */
const duplicateOfTried = (mark: IncomingMark, first: FirstMark): DuplicateOf => ({
  ...duplicateOf(mark, first),
  ...(first.id < firstId ? {} : { report_id: "" }),
});

/** Reports of the tried marks, and of the stored ones that they repeat. */
async function reportsOf(
  tx: Tx,
  admissions: readonly Admission[],
  decisions: ReadonlyMap<string, Decision>,
): Promise<Map<number, Report>> {
  const repeated = admissions.flatMap((admission) =>
    admission.kind === "duplicate" && admission.of < firstId ? admission.of : [],
  );
  const stored = await loadReports(tx, repeated);
  const tried = admissions.flatMap((admission) => {
    if (admission.kind !== "accepted") return [];
    const { outcomes } = decisions.get(admission.incomingMark.stationId) ?? {};
    return { ...reportOf(admission), ...outcomes?.get(admission.id) };
  });
  return new Map([...stored, ...tried].map((report) => [report.id, report]));
}
