import { expect } from "chai";
import { ageMinOf, fadingOf } from "#web/widget/age.ts";

describe("web: the age of what is shown (decisions 15.18)", () => {
  const now = Date.UTC(2026, 0, 2, 12);
  const told = (updated: string) => ageMinOf({ status: "yes", updated }, now);

  it("is counted in whole minutes, from the clock of the service", () => {
    expect(told("2026-01-02T11:55:01Z")).to.equal(4);
    expect(told("2026-01-02T12:00:30Z")).to.equal(0);
    expect(ageMinOf({ status: "nodata", updated: "2026-01-02T11:00:00Z" }, now)).to.equal(null);
    expect(told("")).to.equal(null);
  });

  it("fades after 3, 6 and 12 hours, and what has no age does not", () => {
    const steps = [0, 179, 180, 359, 360, 719, 720, 5000].map(fadingOf);
    expect(steps).to.deep.equal([0, 0, 1, 1, 2, 2, 3, 3]);
    expect(fadingOf(null)).to.equal(0);
  });
});
