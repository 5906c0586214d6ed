import { expect } from "chai";
import { type Answered, canCompare, lookAtOthers, type Served } from "#test/soak/others.ts";

/** Thirty calls of each kind in ten seconds, answered within `ms`. */
const served = (ms: number, given: Partial<Served> = {}): Served => {
  const calls: Answered[] = Array.from({ length: 30 }, (_, n) => ({ ms: ms + n, status: 200 }));
  return { forMs: 10_000, reads: calls, marks: calls, ...given };
};
const answered = (count: number, status: number): Answered[] =>
  Array.from({ length: count }, () => ({ ms: 20, status }));
const found = (...args: Parameters<typeof lookAtOthers>): string[] =>
  lookAtOthers(...args).map(({ invariant }) => invariant);

describe("the soak: what others have of a fault", () => {
  it("finds nothing where others are served as before, or the machine is a little slower", () => {
    for (const ms of [10, 100, 800]) expect(found(served(20), served(ms))).to.deep.equal([]);
  });

  it("finds reads and marks that wait, that are refused, and that do not come any more", () => {
    expect(found(served(20), served(3300))).to.deep.equal([
      "others' reads take about as long as before",
      "others' marks take about as long as before",
    ]);
    for (const status of [0, -1, 429, 503])
      expect(
        found(served(20), served(20, { reads: [...answered(26, 200), ...answered(4, status)] })),
      ).to.deep.equal(["others' reads are served"]);
    expect(found(served(20), served(20, { marks: answered(8, 202) }))).to.deep.equal([
      "others' marks go on",
    ]);
  });

  it("lets long answers be refused where others' wait unread, and marks never", () => {
    const refused = answered(30, 503);
    expect(found(served(20), served(20, { reads: refused }), true)).to.deep.equal([]);
    expect(found(served(20), served(20, { marks: refused }), true)).to.deep.equal([
      "others' marks are served",
    ]);
  });

  it("compares no moments", () => {
    expect(canCompare(served(20), served(20))).to.equal(true);
    expect(canCompare(served(20), served(20, { forMs: 5000 }))).to.equal(false);
    expect(canCompare(served(20, { marks: [] }), served(20))).to.equal(false);
  });
});
