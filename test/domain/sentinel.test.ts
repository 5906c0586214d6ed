import { expect } from "chai";
import fc from "fast-check";
import {
  compareCopies,
  compareWithDatabase,
  type Content,
  type Copy,
  hasLostStatuses,
  streakAfter,
  streakTold,
  type Verdict,
} from "#src/domain/sentinel.ts";

/** What is served depends on changes and time: here by a sum that differs for each number and each third instant. */
const copyAt = (seq: number, fromMs: number, ms: number): Copy => {
  const state = Math.floor(ms / 3);
  const sinceMs = Math.max(fromMs, state * 3);
  return { seq, count: 10 + seq, sum: `${seq}-${state}`, sinceMs, asOfMs: ms };
};
const copy = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.nat(12), fc.nat(12))
  .map(([seq, from, more]) => copyAt(seq, from, from + more));
const copies = fc.array(copy, { maxLength: 8 });
const content = (more: Partial<Content>): Content => ({
  ...{ seq: 7, count: 1000, sum: "a", sinceMs: 0, asOfMs: 1, known: 500, mostKnown: 500 },
  ...more,
});

describe("domain: the sentinel", () => {
  it("finds no difference between right copies, wherever they are in changes and time", () => {
    fc.assert(
      fc.property(copies, copies, (some, others) => {
        expect(compareCopies(some, others)).not.to.equal("different");
        expect(compareCopies(some, some)).not.to.equal("different");
      }),
    );
  });

  it("finds a wrong copy as soon as another one has the same changes and a moment in common", () => {
    fc.assert(
      fc.property(copies, copy, fc.constantFrom("sum", "count"), (others, right, field) => {
        const wrong = { ...right, [field]: field === "sum" ? "wrong" : -1 };
        expect(compareCopies([wrong, right, ...others], [wrong, right, ...others])).to.equal(
          "different",
        );
        expect(compareCopies([wrong], [{ ...right, seq: right.seq + 1 }])).to.equal("unknown");
      }),
    );
  });

  it("does not take a copy that is alone for one that is right", () => {
    const one = copyAt(1, 0, 1);
    expect(compareCopies([one], [one])).to.equal("unknown");
    expect(compareCopies([], [one])).to.equal("unknown");
    expect(compareCopies([one, { ...one }], [one])).to.equal("same");
  });

  it("allows the database what is under way, but at the same change no other number of stations", () => {
    const cases: [Partial<Content>, Verdict][] = [
      [{}, "same"],
      [{ known: 520 }, "same"],
      [{ known: 521 }, "different"],
      [{ known: 479 }, "different"],
      [{ count: 1001 }, "different"],
      [{ count: 1001, seq: 6 }, "same"],
      [{ count: 1021, seq: 6 }, "different"],
    ];
    for (const [more, verdict] of cases)
      expect(
        compareWithDatabase([content({}), content(more)], { seq: 7, count: 1000, known: 500 }),
        JSON.stringify(more),
      ).to.equal(verdict);
    expect(compareWithDatabase([], { seq: 7, count: 1000, known: 500 })).to.equal("unknown");
  });

  it("tells a difference after three comparisons in a row, whatever could not be compared in between", () => {
    const verdict = fc.constantFrom<Verdict>("same", "different", "unknown");
    fc.assert(
      fc.property(fc.array(verdict), (all) => {
        const streak = all.reduce(streakAfter, 0);
        const compared = all.filter((one) => one !== "unknown").slice(-streakTold);
        const isTold = compared.length === streakTold && !compared.includes("same");
        expect(streak >= streakTold).to.equal(isTold);
      }),
    );
  });

  it("finds that a fifth of the statuses is gone, where there were fifty", () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.nat(100_000), (known, more) => {
        const mostKnown = known + more;
        const isLost = mostKnown >= 50 && 5 * more >= mostKnown;
        expect(hasLostStatuses({ known, mostKnown })).to.equal(isLost);
      }),
      {
        examples: [
          [40, 10],
          [40, 9],
          [41, 10],
          [39, 10],
        ],
      },
    );
  });
});
