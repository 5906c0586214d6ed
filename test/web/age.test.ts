import { expect } from "chai";
import { hourMs } from "#src/domain/units.ts";
import { ageMinOf, fadingOf, fadingOfAge } from "#web/widget/age.ts";

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
    const steps = [0, 179, 180, 359, 360, 719, 720, 5000].map(fadingOfAge);
    expect(steps).to.deep.equal([0, 0, 1, 1, 2, 2, 3, 3]);
    expect(fadingOfAge(null)).to.equal(0);
  });

  it("gives way to the chance that the answer is true, where one is known", () => {
    const at = (status: "yes" | "no" | "nodata", chance: number | undefined, hoursAgo = 20) => ({
      fuel: {
        ...{ status, fuels_now: status === "yes" ? "95" : "", fuels_no: "98" },
        ...(chance === undefined ? {} : { chance }),
        updated: new Date(now - hoursAgo * hourMs).toISOString(),
      },
    });
    const faded = [95, 70, 65, 30, 25, 0].map((chance) => [
      fadingOf(at("yes", chance), null, now),
      fadingOf(at("yes", chance), "95", now),
      fadingOf(at("no", 100 - chance), null, now),
    ]);
    expect(faded).to.deep.equal([0, 0, 2, 2, 3, 3].map((fading) => [fading, fading, fading]));
    // By age: without a chance, for a grade of which none is known, and beside a status that it has yet to follow.
    expect(fadingOf(at("yes", undefined), "95", now)).to.equal(3);
    expect(fadingOf(at("yes", 95), "98", now)).to.equal(3);
    expect(fadingOf(at("yes", 20, 0), "95", now)).to.equal(0);
    expect(fadingOf(at("nodata", 20), null, now)).to.equal(0);
  });
});
