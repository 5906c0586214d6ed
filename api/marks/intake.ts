import type { Clock } from "#src/infrastructure/clock.ts";
import { type Admission, admit, type Admitted, type IncomingMark } from "#src/domain/admit.ts";
import { type Alarm, raiseAlarms, subjectOfSource } from "#src/alarms/raise.ts";
import { createBatcher } from "#src/infrastructure/batcher.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, isIdleTooLong, isUnavailable, rows } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { isMissingPartition, markId } from "#src/marks/marks.ts";
import { cityNames } from "#src/marks/nearest-city.ts";
import { pipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import { lockScopes, readFacts, storeMarks } from "#api/marks/intake-rows.ts";
import type { Report } from "#src/contract/present.ts";

export interface Intake {
  /**
   * Checks and stores one mark (decisions 3): when this resolves, the mark is safe, refused, or a duplicate.
   * Rejects when it could not be stored or that is not known. `trace`: the request's `traceparent`, where it is traced.
   */
  submit(incomingMark: IncomingMark, trace?: string): Promise<Admission>;
  /** Waits for batches that are under way. */
  drain(): Promise<void>;
}

/**
 * Intake in batches: marks that arrive while a batch is in flight are the next batch, and the first batch has the marks
 * that arrive in the same turn of the event loop. There is no timer, so a lone mark waits for nobody.
 */
export function createIntake(deps: {
  db: Db;
  config: Config;
  log: Log;
  clock: Clock;
  waiters: Pick<Waiters, "expect" | "forget">;
  wake: (stationIds: readonly string[], traces: readonly string[]) => void;
  /** Hears of every decision; null when a mark could not be stored. */
  counted: (admission: Admission | null) => void;
}): Intake {
  const { db, config, log, clock, waiters, wake, counted } = deps;
  const traces = new WeakMap<IncomingMark, string>();

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
  const batches = createBatcher<IncomingMark, Admission>({
    ...{ atOnce: config.batchesInFlight, max: config.batchMax, sameTurn: true, run: handle },
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
        const accepted = decided.filter((made) => made.kind === "accepted");
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
    submit: (incomingMark, trace) => {
      if (trace !== undefined) traces.set(incomingMark, trace);
      return batches.add(incomingMark);
    },
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
