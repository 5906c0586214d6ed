import { expect } from "chai";
import { usualRefill } from "#web/widget/usual-refill.ts";

describe("web: when a station is usually refilled", () => {
  it("is said of the part of the day that has more than half of at least five refills", () => {
    expect(usualRefill([6, 7, 11, 8, 23])).to.deep.equal({ part: 1, times: 4, of: 5 });
    expect(usualRefill([0, 5, 3, 12, 18])).to.deep.equal({ part: 0, times: 3, of: 5 });
    expect(usualRefill([17, 12, 13, 14, 15])).to.deep.equal({ part: 2, times: 5, of: 5 });
  });

  it("is not said of few refills, or where no part has more than half", () => {
    expect(usualRefill([6, 7, 8, 9])).to.equal(null);
    expect(usualRefill([6, 7, 8, 18, 19, 20])).to.equal(null);
    expect(usualRefill([])).to.equal(null);
  });
});
