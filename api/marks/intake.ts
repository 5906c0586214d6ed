import type { Resources } from "#src/infrastructure/resources.ts";
import { apiBase } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";
import { type Admission, admit, type Admitted, type IncomingMark } from "#src/domain/admit.ts";
import { emptyState, type FuelBlock } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { type Refusal, refuse } from "#src/contract/refusals.ts";
import { type Alarm, raiseAlarms, subjectOfSource } from "#src/alarms/raise.ts";
import { createBatcher } from "#src/infrastructure/batcher.ts";
import { isIdleTooLong, isUnavailable, rows } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { duplicateOf, type FirstMark, loadFirstMarks } from "#src/marks/first-mark.ts";
import { isMissingPartition, loadReports, markId } from "#src/marks/marks.ts";
import { cityNames } from "#src/marks/nearest-city.ts";
import { pipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import { lockScopes, readFacts, storeMarks } from "#api/marks/intake-rows.ts";
import { presentReport, type Report, type ReportOutput } from "#src/contract/present.ts";

type Duplicate = Pick<Extract<Admission, { kind: "duplicate" }>, "of" | "named">;

export interface Intake {
  /**
   * Checks and stores the marks of a call in their order (decisions 3): when one's promise resolves, it is safe, refused,
   * or a duplicate. Rejects when it could not be stored or that is not known. `trace`: the request's `traceparent`,
   * where it is traced.
   */
  submit(incomingMarks: readonly IncomingMark[], trace?: string): Promise<Admission>[];
  /** Reads the mark that another one repeats, together with those of others; what is gone is undefined. */
  repeated(
    duplicate: Duplicate,
  ): Promise<{ stored: Report | undefined; first: FirstMark | undefined }>;
  /** Waits for batches that are under way. */
  drain(): Promise<void>;
}

interface IntakeDeps extends Omit<Resources, "redis"> {
  waiters: Pick<Waiters, "expect" | "forget">;
  wake: (stationIds: readonly string[], traces: readonly string[]) => void;
  /** Hears of every decision; null when a mark could not be stored. */
  counted: (admission: Admission | null) => void;
}

/**
 * Intake in batches: marks that arrive while a batch is in flight are the next batch, and the first batch has the marks
 * that arrive in the same turn of the event loop. There is no timer, so a lone mark waits for nobody.
 */
export function createIntake(deps: IntakeDeps): Intake {
  const { db, config, log, clock, waiters, wake, counted } = deps;
  const traces = new WeakMap<IncomingMark, string>();
  const givenUp = new WeakSet<readonly IncomingMark[]>();

  const handle = async (marks: readonly IncomingMark[]): Promise<(Admission | Error)[]> => {
    try {
      const admissions = await admitAll(marks);
      admissions.forEach(counted);
      return admissions;
    } catch (error) {
      // A statement that one mark made fail must not take its batch along; a lost database takes them all.
      if (marks.length === 1 || isUnavailable(error)) {
        marks.forEach(() => counted(null));
        return marks.map(() => error as Error);
      }
      log.warn(
        { err: error, marks: marks.length },
        "intake batch failed, taking its marks one by one",
      );
      const alone: (Admission | Error)[] = [];
      for (const mark of marks) alone.push(...(await handle([mark])));
      return alone;
    }
  };
  const batches = createBatcher<readonly IncomingMark[], readonly (Admission | Error)[]>({
    ...{ atOnce: config.batchesInFlight, max: config.batchMax, sameTurn: true },
    weigh: ({ length }) => length,
    run: async (calls) => {
      // What its caller has given up is not stored after all: a retry is on its way.
      const due = new Set(calls.filter((call) => !givenUp.has(call)));
      const made = due.size === 0 ? [] : await handle([...due].flat());
      return calls.map((call) => (due.has(call) ? made.splice(0, call.length) : []));
    },
  });

  const repeats = createBatcher<Duplicate, Awaited<ReturnType<Intake["repeated"]>>>({
    ...{ atOnce: config.batchesInFlight, max: config.batchMax, sameTurn: true },
    run: async (duplicates) => {
      const reports = await loadReports(
        db,
        duplicates.map(({ of }) => of),
      );
      const stored = new Map(reports.map((report) => [report.id, report]));
      const named = duplicates.flatMap((one) => (one.named ? one.of : []));
      const firsts = await loadFirstMarks(db, named);
      return duplicates.map(({ of }) => ({ stored: stored.get(of), first: firsts.get(of) }));
    },
  });

  const admitAll = async (incomingMarks: readonly IncomingMark[]): Promise<Admission[]> => {
    try {
      return await attempt(incomingMarks);
    } catch (error) {
      if (isMissingPartition(error))
        await rows(db, "select ensure_mark_partitions((server_now() at time zone 'UTC')::date, 1)");
      // This process was busy for so long between two statements. The commit was not among them, so nothing is stored.
      else if (!isIdleTooLong(error)) throw error;
      return attempt(incomingMarks);
    }
  };

  const attempt = async (incomingMarks: readonly IncomingMark[]): Promise<Admission[]> => {
    let expected: number[] = [];
    try {
      const admissions = await pipelinedTransaction(db, async (tx) => {
        // Two statements, one behind the other, in one round trip.
        const [, { facts, sequences, reporterIds }] = await Promise.all([
          lockScopes(tx, incomingMarks),
          readFacts(tx, incomingMarks, config, clock),
        ]);
        const decided = incomingMarks.map((mark, index) =>
          admit(facts, mark, markId(facts.now, sequences[index]!), config),
        );
        // What is too old to count is answered, and not stored: no cap would bound it.
        const accepted = decided.filter(
          (made) => made.kind === "accepted" && made.review !== "expired",
        ) as Admitted[];
        // Before the commit, or a fast worker's outcome could come before anyone waits for it.
        expected = accepted.filter(({ review }) => review === "none").map(({ id }) => id);
        waiters.expect(expected);
        // No alarm for blocked reporters: the operator knows them.
        const held = accepted.filter(({ review, isBlocked }) => review === "held" && !isBlocked);
        // Asked only when marks are held, which is rare.
        const cities =
          held.length === 0
            ? null
            : await cityNames(
                tx,
                held.map(({ incomingMark }) => incomingMark.stationId),
              );
        if (accepted.length > 0)
          await Promise.all([
            storeMarks(tx, accepted, facts, reporterIds),
            cities === null
              ? null
              : raiseAlarms(
                  tx,
                  held.map((mark) => alarmOf(mark, facts.now, cities)),
                ),
            tx.commit(),
          ]);
        return decided;
      });
      const due = admissions.flatMap((made) =>
        made.kind === "accepted" && made.review === "none" ? made.incomingMark : [],
      );
      const stations = new Set(due.map(({ stationId }) => stationId));
      const traced = new Set(due.flatMap((mark) => traces.get(mark) ?? []));
      if (stations.size > 0) wake([...stations], [...traced]);
      return admissions;
    } catch (error) {
      waiters.forget(expected);
      throw error;
    }
  };

  return {
    submit: (incomingMarks, trace) => {
      if (trace !== undefined) for (const mark of incomingMarks) traces.set(mark, trace);
      let before: Promise<unknown> = Promise.resolve();
      // Each slice is in one transaction, after the one before: a later mark must never be judged before an earlier one.
      return [...slices(incomingMarks, config.batchMax)].flatMap((slice) => {
        const made = before.then(() => batches.add(slice));
        before = made;
        const answered = db.pool.unlessSilent(made);
        answered.catch(() => givenUp.add(slice));
        return slice.map(async (_, index) => {
          const admission = (await answered)[index]!;
          if (admission instanceof Error) throw admission;
          return admission;
        });
      });
    },
    repeated: repeats.add,
    drain: batches.drain,
  };
}

/** The alarm that marks of this source are held in this city (decisions 4.11). */
const alarmOf = (
  { incomingMark: { viewer, partnerId, stationId } }: Admitted,
  at: number,
  cities: ReadonlyMap<string, string>,
): Alarm => ({
  kind: "marks-held",
  subject: subjectOfSource(viewer, partnerId),
  city: cities.get(stationId) ?? "",
  at,
});

export type Waiters = ReturnType<typeof createWaiters>;

interface Entry {
  report: Report | null;
  waiting: Set<(report: Report | null) => void>;
  /** True between a request's announcement that it will wait and its wait. */
  expected: boolean;
}

/**
 * Requests of this process that wait for the outcome of a mark. `expect` is called before the mark is committed,
 * `wait` after it; the follower reads `ids()` and calls `settle`.
 */
export function createWaiters() {
  const entries = new Map<number, Entry>();
  let ended = false;
  const entryOf = (id: number): Entry => {
    const entry = entries.get(id) ?? { report: null, waiting: new Set(), expected: false };
    entries.set(id, entry);
    return entry;
  };
  const tidy = (id: number, entry: Entry): void => {
    if (!entry.expected && entry.waiting.size === 0) entries.delete(id);
  };
  return {
    expect: (ids: readonly number[]): void => ids.forEach((id) => (entryOf(id).expected = true)),
    forget: (ids: readonly number[]): void =>
      ids.forEach((id) => {
        const entry = entries.get(id);
        if (entry === undefined) return;
        entry.expected = false;
        tidy(id, entry);
      }),
    /** The mark's report, or null when it is not there within `ms` or the wait is given up. */
    wait: (id: number, ms: number) =>
      new Promise<Report | null>((resolve) => {
        const entry = entryOf(id);
        entry.expected = false;
        if (entry.report !== null || ms <= 0 || ended) {
          tidy(id, entry);
          return resolve(entry.report);
        }
        const done = (report: Report | null): void => {
          clearTimeout(timer);
          entry.waiting.delete(done);
          tidy(id, entry);
          resolve(report);
        };
        const timer = setTimeout(() => done(null), ms);
        entry.waiting.add(done);
      }),
    /** Ends all current and future waits, because the process stops. */
    giveUp(): void {
      ended = true;
      for (const { waiting } of entries.values()) [...waiting].forEach((done) => done(null));
    },
    ids: (): number[] => [...entries].flatMap(([id, entry]) => (entry.report === null ? id : [])),
    settle(reports: readonly Report[]): void {
      for (const report of reports) {
        const entry = entries.get(report.id);
        if (entry === undefined || report.outcome === null) continue;
        entry.report = report;
        [...entry.waiting].forEach((done) => done(report));
      }
    },
  };
}

/** The services that the routes of marks use. */
export type MarkDeps = Pick<
  Services,
  | "clock"
  | "config"
  | "db"
  | "follower"
  | "intake"
  | "invalidation"
  | "log"
  | "meter"
  | "model"
  | "priceMedians"
  | "waiters"
>;

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
    const output = presentReport(report, fuelNow(services, report.stationId), false);
    return { report, output: report.accepted ? output : { ...output, report_id: "" } };
  }
  const { named } = admission;
  const { stored, first } = await services.intake.repeated(admission);
  if (stored === undefined || (named && first === undefined)) return firstMarkGone;
  const [known] = await caughtUp(services, [stored]);
  const report = stored.outcome === null ? await awaitOutcome(services, stored, waitMs) : known!;
  const output = presentReport(report, fuelNow(services, report.stationId), true);
  return {
    report,
    output: !named ? output : { ...output, duplicate_of: duplicateOf(mark, first!) },
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
