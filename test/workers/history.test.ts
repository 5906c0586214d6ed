import { expect } from "chai";
import { hour, mark, t0 } from "#test/domain/marks.ts";
import { afterGap } from "#src/marks/histories.ts";

const day = 24 * hour;

/** Ids of the marks (hours before t0, by id from 1) that a refold for a mark at `newest` h begins with. */
function kept(hours: readonly number[], newest: number, from = newest - 48): number[] | null {
  const marks = hours.map((at, index) => mark(index + 1, index + 1, at * 60));
  const found = afterGap({ marks, seeds: [] }, t0 + from * hour, t0 + newest * hour, day);
  return found === null ? null : found.marks.map((one) => one.id);
}

describe("worker: where a refold's history may begin", () => {
  it("after the last gap of 24 h before the late mark", () => {
    expect(kept([-47, -46, -20, -5, 3], 0)).to.deep.equal([3, 4, 5]);
  });

  it("at the late mark itself, when there was nothing for 24 h before it", () => {
    expect(kept([-47, -30, 3], 0)).to.deep.equal([3]);
    expect(kept([], 0)).to.deep.equal([]);
  });

  it("not after a gap that the late mark falls into: what came before still bears on it", () => {
    expect(kept([-40, -20, -1, 23.5], 0)).to.equal(null);
  });

  it("not without a gap", () => {
    expect(kept([-40, -20, -1], 0)).to.equal(null);
    expect(kept([-24.5, -0.5], 0, -48)).to.deep.equal([2]);
  });
});
