import fc from "fast-check";
import { expect } from "chai";
import { decide, sortsLast } from "#src/domain/decide.ts";
import type { FirstSeen } from "#src/domain/devices.ts";
import { emptyState, type Mark, type Seed, type StationState } from "#src/domain/state.ts";
import {
  runsChangedBy,
  runsOfRefold,
  type RunsSince,
  statusAt,
  type StatusRun,
  statusRuns,
  transitions,
  view,
  withTimePassed,
} from "#src/domain/view.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { afterGap } from "#src/marks/histories.ts";
import {
  apart,
  arbFirstSeen,
  arbMarks,
  hour,
  mark,
  minute,
  remote,
  rules,
  t0,
} from "#test/domain/marks.ts";
import { sized } from "#test/harness/long.ts";

const lifetimeMs = rules.statusLifetimeMs;

/** All that is known of a station at a time. */
interface Known {
  marks: readonly Mark[];
  seeds: readonly Seed[];
}

const foldAll = (known: Known, firstSeen: FirstSeen, now: number) => {
  const facts = { state: emptyState, opinions: [], history: known };
  return decide(facts, { marks: [], seeds: [] }, firstSeen, now, rules);
};

/** The runs of all that is known, from the first status on. */
function runsOf(known: Known, firstSeen: FirstSeen, now: number): StatusRun[] {
  const { states } = foldAll(known, firstSeen, now);
  const [first, ...others] = statusRuns({ before: emptyState, states }, 0, now, lifetimeMs);
  return first?.status === "nodata" ? others : [first!, ...others];
}

/** What the table does with runs that are written. */
function write(stored: readonly StatusRun[], { since, runs }: RunsSince): StatusRun[] {
  const earlier = stored.filter(({ from }) => from < since).map((run) => ({ ...run }));
  const before = earlier.at(-1);
  const fresh = runs.filter(
    ({ from, status }) => from > since || status !== (before?.status ?? "nodata"),
  );
  if (before !== undefined) before.to = fresh[0]?.from ?? null;
  return [...earlier, ...fresh];
}

const said = (runs: readonly StatusRun[]) =>
  runs.map(({ status, from, to }) => [
    status,
    (from - t0) / minute,
    to === null ? null : (to - t0) / minute,
  ]);

const day = 24 * 60;

describe("status runs", () => {
  const of = (marks: readonly Mark[], untilMinutes: number, seeds: readonly Seed[] = []) =>
    said(runsOf({ marks, seeds }, apart, t0 + untilMinutes * minute));
  const no = (id: number, reporterId: number, at: number) =>
    mark(id, reporterId, at, { status: "no", needed: 2, rule: "no-nearby-marks" });

  it("begin with the first status and last until another one", () => {
    const marks = [
      remote(1, 1, 0),
      mark(2, 2, 10),
      mark(3, 3, 30),
      mark(4, 4, 60, { status: "low" }),
    ];
    expect(of(marks, 5)).to.deep.equal([]);
    expect(of(marks.slice(0, 3), 60)).to.deep.equal([["yes", 10, null]]);
    expect(of(marks, 60)).to.deep.equal([
      ["yes", 10, 60],
      ["low", 60, null],
    ]);
  });

  it("end at the instant at which the status expires, 24 h after what last renewed it", () => {
    const marks = [mark(1, 1, 0), mark(2, 2, 60)];
    expect(of(marks, 60 + day - 1)).to.deep.equal([["yes", 0, null]]);
    expect(of(marks, 60 + day)).to.deep.equal([
      ["yes", 0, 60 + day],
      ["nodata", 60 + day, null],
    ]);
  });

  it("change at the instant at which a dispute ends", () => {
    const marks = [mark(1, 1, 0), mark(2, 2, 1), no(3, 3, 2), no(4, 4, 3)];
    expect(of(marks, 59)).to.deep.equal([["yes", 0, null]]);
    expect(of(marks, 60)).to.deep.equal([
      ["yes", 0, 60],
      ["no", 60, null],
    ]);
    expect(of(marks, 3 * day)).to.deep.equal([
      ["yes", 0, 60],
      ["no", 60, 3 + day],
      ["nodata", 3 + day, null],
    ]);
  });

  it("take imports in from the time of the import", () => {
    const seed: Seed = {
      ...{ importedAt: t0 + 5 * minute, updated: t0 - hour },
      ...{ status: "no", fuelsNow: [], fuelsNo: [] },
    };
    expect(of([mark(1, 1, 10)], 20, [seed])).to.deep.equal([
      ["no", 5, 10],
      ["yes", 10, null],
    ]);
  });

  it("are never empty: of several changes at one instant the last one counts", () => {
    const marks = [mark(1, 1, 0), mark(2, 2, 10, { status: "low" })];
    expect(of([...marks, mark(3, 3, 10, { status: "queue" })], 20)).to.deep.equal([
      ["yes", 0, 10],
      ["queue", 10, null],
    ]);
    expect(of([...marks, mark(3, 3, 10)], 20)).to.deep.equal([["yes", 0, null]]);
  });

  it("have nothing to write for a mark that leaves the status as it is", () => {
    const facts = { state: emptyState, opinions: [], history: null };
    const first = decide(facts, { marks: [mark(1, 1, 0)], seeds: [] }, apart, t0, rules);
    const again = decide(
      { state: first.state, opinions: [...first.opinions.values()], history: null },
      { marks: [mark(2, 2, 30)], seeds: [] },
      apart,
      t0 + 30 * minute,
      rules,
    );
    const step = { saved: first.state, states: again.states, earliest: t0 + 30 * minute };
    expect(runsChangedBy(step, t0 + 31 * minute, lifetimeMs)).to.equal(null);
    // A day later it may be stored already that the status had expired, which this mark undoes.
    expect(runsChangedBy(step, t0 + (day + 1) * minute, lifetimeMs)?.runs).to.deep.equal([
      { status: "yes", from: t0, to: null },
    ]);
  });
});

const arbSeeds = fc.array(
  fc
    .record({
      at: fc.integer({ min: 0, max: 50 * 60 }),
      age: fc.integer({ min: 0, max: 26 * 60 }),
      status: fc.constantFrom(...statuses),
    })
    .map(({ at, age, status }): Seed => ({
      ...{ importedAt: t0 + at * minute, updated: t0 + (at - age) * minute },
      ...{ status, fuelsNow: [], fuelsNo: [] },
    })),
  { maxLength: 4 },
);

describe("status runs: properties", () => {
  const end = t0 + 80 * hour;

  it("have no gap, ascend, differ from their neighbours, and say at each moment what was shown", () => {
    fc.assert(
      fc.property(
        arbMarks,
        arbSeeds,
        arbFirstSeen,
        fc.array(fc.integer({ min: 0, max: 80 * 60 }), { maxLength: 20 }),
        (marks, seeds, firstSeen, minutes) => {
          const runs = runsOf({ marks, seeds }, firstSeen, end);
          for (const [index, run] of runs.entries()) {
            const next = runs[index + 1];
            expect(run.to).to.equal(next?.from ?? null);
            expect(run.to ?? Infinity).to.be.above(run.from);
            expect(run.status).to.not.equal(next?.status);
          }
          const moments = [
            ...minutes.map((at) => t0 + at * minute),
            ...runs.flatMap(({ from }) => [from - 1, from, from + 1]),
          ];
          for (const at of moments) {
            const past = {
              marks: marks.filter((one) => one.at <= at),
              seeds: seeds.filter((seed) => seed.importedAt <= at),
            };
            const shown = view(foldAll(past, firstSeen, at).state, at, lifetimeMs).status;
            const run = runs.findLast(({ from }) => from <= at);
            expect(run?.status ?? "nodata").to.equal(shown);
          }
        },
      ),
      { numRuns: sized(50, 120) },
    );
  });

  it("are the same, stored one by one in any order of delivery, as worked out of everything", () => {
    const arbDelays = fc.array(fc.integer({ min: 0, max: 30 * 60 }), {
      minLength: 40,
      maxLength: 40,
    });
    const arbWithdrawals = fc.array(
      fc.option(fc.record({ after: fc.integer({ min: 1, max: 30 * 60 }), whole: fc.boolean() }), {
        freq: 2,
      }),
      { minLength: 40, maxLength: 40 },
    );
    const arbLooks = fc.array(fc.integer({ min: 0, max: 110 * 60 }), { maxLength: 10 });
    fc.assert(
      fc.property(
        ...[arbMarks, arbSeeds, arbFirstSeen, arbDelays, arbWithdrawals, arbLooks],
        (marks, seeds, firstSeen, delays, withdrawals, looks) => {
          let known: Known = { marks: [], seeds: [] };
          let state: StationState = emptyState;
          let opinions: readonly Mark[] = [];
          let stored: StatusRun[] = [];
          /** What time changes next, and what was shown then: as `next_at` and `status` are stored. */
          let next: number | undefined;
          let status = "nodata";
          const save = (now: number): void => {
            next = transitions(state, lifetimeMs).find((at) => at > now);
            status = statusAt(state, now, lifetimeMs);
          };
          const take = (one: Mark, now: number): void => {
            const arrivals = { marks: [one], seeds: [], judged: new Set([one.id]) };
            const history = sortsLast(state, arrivals) ? null : known;
            const facts = { state, opinions, history };
            const decision = decide(facts, arrivals, firstSeen, now, rules);
            const step = { saved: state, states: decision.states, earliest: one.at };
            const changed = runsChangedBy(step, now, lifetimeMs);
            if (changed !== null) stored = write(stored, changed);
            known = { ...known, marks: [...known.marks, one] };
            state = decision.state;
            opinions = [...decision.opinions.values()];
            save(now);
          };
          /** From the last gap before `from` on, or everything. */
          const refold = (from: number, now: number): void => {
            const times = [
              ...known.marks.map(({ at }) => at),
              ...known.seeds.map(({ importedAt }) => importedAt),
            ];
            const newest = times.length === 0 ? from : Math.min(Math.max(...times), from);
            const history = from === 0 ? known : afterGap(known, 0, newest, lifetimeMs)!;
            const decision = foldAll(history, firstSeen, now);
            const step = { saved: state, states: decision.states, from };
            stored = write(stored, runsOfRefold(step, 0, now, lifetimeMs));
            state = decision.state;
            opinions = [...decision.opinions.values()];
            save(now);
          };
          const takeImport = (seed: Seed, now: number): void => {
            known = { ...known, seeds: [...known.seeds, seed] };
            refold(seed.importedAt, now);
          };
          /** As a rollback does it. */
          const withdraw = ({ id, at }: Mark, whole: boolean, now: number): void => {
            known = { ...known, marks: known.marks.filter((one) => one.id !== id) };
            refold(whole ? 0 : at, now);
          };
          const passTime = (now: number): void => {
            if (next === undefined || next > now) return;
            const runs = statusRuns({ before: state, states: [] }, next, now, lifetimeMs);
            if (runs.length > 1 || runs[0]!.status !== status)
              stored = write(stored, { since: next, runs });
            save(now);
          };
          const deliveries = [
            ...marks.map((one, index) => {
              const now = one.at + delays[index]! * minute;
              return { now, run: () => take(one, now) };
            }),
            ...seeds.map((seed) => {
              const now = seed.importedAt;
              return { now, run: () => takeImport(seed, now) };
            }),
            ...marks.flatMap((one, index) => {
              const withdrawal = withdrawals[index]!;
              if (withdrawal === null) return [];
              const now = one.at + (delays[index]! + withdrawal.after) * minute;
              return { now, run: () => withdraw(one, withdrawal.whole, now) };
            }),
            ...looks.map((at) => {
              const now = t0 + at * minute;
              return { now, run: () => passTime(now) };
            }),
          ].sort((a, b) => a.now - b.now);
          for (const { now, run } of deliveries) {
            run();
            const all = runsOf(known, firstSeen, now);
            expect(withTimePassed(stored, state, now, lifetimeMs)).to.deep.equal(all);
            // As a reader sees it before anybody has stored what time changed.
            expect(withTimePassed(stored, state, now + 7 * hour, lifetimeMs)).to.deep.equal(
              runsOf(known, firstSeen, now + 7 * hour),
            );
          }
          const last = Math.max(...deliveries.map(({ now }) => now)) + 40 * hour;
          passTime(last);
          expect(stored).to.deep.equal(runsOf(known, firstSeen, last));
        },
      ),
      { numRuns: sized(50, 120) },
    );
  });
});
