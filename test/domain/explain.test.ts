import { expect } from "chai";
import fc from "fast-check";
import { explain, type MarkStep } from "#src/domain/explain.ts";
import { emptyState, type Mark, order, type Seed } from "#src/domain/state.ts";
import { transitions, view } from "#src/domain/view.ts";
import {
  apart,
  arbFirstSeen,
  arbMarks,
  deliver,
  judgedInOrder,
  hour,
  mark,
  minute,
  remote,
  rules,
  t0,
} from "#test/domain/marks.ts";
import { sized } from "#test/harness/long.ts";

const now = t0 + 100 * hour;
const stepsOf = (marks: readonly Mark[], seeds: readonly Seed[] = [], at = now) =>
  explain({ marks, seeds }, null, apart, at, rules).steps;

describe("explain", () => {
  it("ends in the state that the marks worker stores, whatever the order of delivery", () => {
    fc.assert(
      fc.property(
        arbMarks.chain((marks) =>
          fc.tuple(fc.constant(marks), fc.shuffledSubarray(marks, { minLength: marks.length })),
        ),
        arbFirstSeen,
        ([marks, delivered], firstSeen) => {
          const judged = judgedInOrder(marks, now, firstSeen);
          const inThatOrder = delivered.map(({ id }) => judged.find((one) => one.id === id)!);
          const stored = deliver(inThatOrder, now, firstSeen, true).state;
          const { state } = explain({ marks: judged, seeds: [] }, null, firstSeen, now, rules);
          expect(JSON.parse(JSON.stringify(state))).to.deep.equal(stored);
        },
      ),
      { numRuns: sized(100, 300) },
    );
  });

  it("has a step for each mark, in order, and its last step shows what reads show", () => {
    fc.assert(
      fc.property(arbMarks, arbFirstSeen, (marks, firstSeen) => {
        const { steps, state } = explain({ marks, seeds: [] }, null, firstSeen, now, rules);
        const ids = steps.flatMap((one) => (one.kind === "mark" ? [one.markId] : []));
        expect(ids).to.deep.equal([...marks].sort(order).map(({ id }) => id));
        const times = steps.map(({ at }) => at);
        expect(times).to.deep.equal([...times].sort((a, b) => a - b));
        const last = steps.at(-1)!.shown;
        const block = view(state, now, rules.statusLifetimeMs);
        expect(last).to.deep.include({
          status: block.status,
          pendingStatus: block.pending_status,
          reason: block.resolution_reason,
        });
      }),
      { numRuns: sized(100, 300) },
    );
  });

  it("names every change of the served status by time alone", () => {
    fc.assert(
      fc.property(arbMarks, arbFirstSeen, (marks, firstSeen) => {
        const { steps, state } = explain({ marks, seeds: [] }, null, firstSeen, now, rules);
        const lastMark = steps.findLastIndex(({ kind }) => kind === "mark");
        for (const at of transitions(state, rules.statusLifetimeMs)) {
          const [before, after] = [at - 1, at].map((moment) => view(state, moment, 24 * hour));
          if (before!.status === after!.status) continue;
          expect(steps.slice(lastMark + 1).map((one) => one.at)).to.include(at);
        }
      }),
      { numRuns: sized(70, 200) },
    );
  });

  it("says what a mark needed, had, and which rule asked for it", () => {
    const steps = stepsOf([
      remote(1, 1, 0, { status: "no" }),
      remote(2, 2, 5, { status: "no" }),
      remote(3, 3, 70, { status: "no" }),
    ]);
    const first = steps[0] as MarkStep;
    expect(first).to.include({ needed: 2, have: 1, rule: "remote", effect: "pending" });
    expect(first.shown).to.include({ status: "nodata", pendingStatus: "no", pendingCount: 1 });
    expect(steps[1]).to.include({ have: 2, reporters: 2, effect: "published" });
    expect(steps[2]).to.include({ have: 3, effect: "renewed" });
    expect(steps[3]).to.deep.include({ kind: "time", effect: "status-expired", status: "no" });
    expect(steps[3]!.at).to.equal(t0 + 70 * minute + 24 * hour);
  });

  it("says whose opinion took the place of which", () => {
    const steps = stepsOf([mark(1, 1, 0), mark(2, 1, 30, { status: "low" })]);
    expect(steps[0]).to.include({ replaces: null });
    expect(steps[1]).to.include({ replaces: "yes", effect: "published" });
  });

  it("tells two reporters from one device apart", () => {
    const together = (): number => t0 - 48 * hour;
    const marks = [remote(1, 1, 0), remote(2, 2, 5)];
    const { steps } = explain({ marks, seeds: [] }, null, together, t0 + hour, rules);
    expect(steps[1]).to.include({ have: 1, reporters: 2, effect: "pending" });
  });

  it("says which prices of a mark wait, and for what", () => {
    const pricesNeeded = { "95": 2 } as const;
    const steps = stepsOf([
      mark(1, 1, 0, { prices: { "92": 55, "95": 60 } }),
      mark(2, 2, 10, { prices: { "92": 56, "95": 999 }, pricesNeeded }),
      remote(3, 3, 20, { prices: { "92": 58 } }),
      mark(4, 4, 30, { prices: { "95": 980 }, pricesNeeded }),
      mark(5, 5, 40, { status: "low", prices: { "95": 500 }, pricesNeeded }),
    ]);
    const waiting = steps.flatMap((one) => (one.kind === "mark" ? [one.waitingPrices] : []));
    const lone = { needed: 2, have: 1 };
    expect(waiting).to.deep.equal([
      [],
      [{ grade: "95", price: 999, ...lone, isOutOfLine: true }],
      [{ grade: "92", price: 58, ...lone, isOutOfLine: false }],
      [],
      [{ grade: "95", price: 500, ...lone, isOutOfLine: true }],
    ]);
  });

  it("shows an import that is taken, and one that a human status kept out", () => {
    const seed = (at: number): Seed => ({
      importedAt: t0 + at * minute,
      updated: t0 + at * minute,
      status: "no",
      fuelsNow: [],
      fuelsNo: [],
    });
    const steps = stepsOf([mark(1, 1, 10)], [seed(0), seed(20)], t0 + hour);
    expect(steps.map((one) => one.kind)).to.deep.equal(["seed", "mark", "seed"]);
    expect(steps[0]).to.include({ taken: true });
    expect(steps[0]!.shown).to.include({ status: "no", seeded: true });
    expect(steps[2]).to.include({ taken: false });
    expect(steps[2]!.shown).to.include({ status: "yes", seeded: false });
  });

  it("keeps the age of a status older than everything it is told", () => {
    const { state } = explain({ marks: [], seeds: [] }, t0, apart, now, rules);
    expect(state).to.deep.equal({ ...emptyState, lastUpdated: t0 });
  });
});
