import { expect } from "chai";
import fc from "fast-check";
import { bucketOf, quantileMs } from "#src/limits/request-journal.ts";

const countsOf = (durations: readonly number[]): Map<number, number> => {
  const counts = new Map<number, number>();
  for (const ms of durations) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1);
  return counts;
};

describe("durations by bucket", () => {
  it("give the median and the p95 within a tenth, as decisions 12.12 promises", () => {
    const ms = fc.double({ min: 0.1, max: 100_000, noNaN: true });
    fc.assert(
      fc.property(fc.array(ms, { minLength: 1, maxLength: 50 }), (durations) => {
        const sorted = [...durations].sort((a, b) => a - b);
        for (const share of [0.5, 0.95]) {
          const exact = sorted[Math.ceil(share * sorted.length) - 1]!;
          const ratio = quantileMs(countsOf(durations), share)! / exact;
          expect(ratio).to.be.within(0.9, 1.1);
        }
      }),
    );
  });

  it("take every duration there can be, and grow with it", () => {
    const all = [0, 1e-9, 0.05, 0.1, 1, 2, 1000, 60_000, 1e9].map(bucketOf);
    expect(all).to.deep.equal([...all].sort((a, b) => a - b));
    // A smallint, and the bits that a name of the journal has for it.
    for (const bucket of all) expect(bucket).to.be.within(0, 127);
    expect(bucketOf(2)).to.equal(bucketOf(1) + 4);
  });

  it("have no median where nothing was counted", () => {
    expect(quantileMs(new Map(), 0.5)).to.equal(null);
    expect(quantileMs(new Map([[7, 0]]), 0.5)).to.equal(null);
  });
});
