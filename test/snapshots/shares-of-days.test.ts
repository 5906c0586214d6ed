import { expect } from "chai";
import fc from "fast-check";
import { figuresOf, sharesOfDays } from "#snapshots/insights/figures.ts";
import type { Insights } from "#snapshots/insights/insight-store.ts";
import { dayMs } from "#src/domain/units.ts";
import { grades } from "#src/domain/vocabulary.ts";

const some = fc.nat(9);
const ms = fc.record({ yes: some, low: some, no: some, queue: some });
const sums = fc.array(some, { minLength: 2 * grades.length, maxLength: 2 * grades.length });
const ids = ["a", "b"];
const day = fc.record(
  {
    cities: fc.dictionary(fc.constantFrom(...ids), fc.record({ stations: some, ms })),
    grades: fc.dictionary(fc.constantFrom(...ids), sums),
  },
  { requiredKeys: ["cities"] },
);
const days = fc.array(day, { maxLength: 9 });

describe("shares of a city by day", () => {
  const insightsOf = (past: readonly object[], today: object, lengthMs: number): Insights => {
    const at = (one: object, n: number) => ({ ...one, at: n * dayMs });
    const now = { ...at(today, past.length), lengthMs };
    return { cities: [], counts: {}, asOfMs: 0, days: past.map(at), today: now } as never;
  };

  it("are those of its figures, for any period, in whatever order they are asked for", () => {
    const length = fc.constantFrom(0, 3);
    const asked = fc.array(
      fc.tuple(fc.constantFrom("no", ...grades), fc.integer({ min: 1, max: 12 })),
    );
    fc.assert(
      fc.property(days, day, length, asked, (past, today, lengthMs, questions) => {
        const insights = insightsOf(past, today, lengthMs);
        for (const [of, period] of questions)
          for (const id of ids) {
            const figures = figuresOf(insights, id, period).days;
            const wanted = figures.map((one) => (of === "no" ? one.share_no : one.share_out[of]));
            expect(sharesOfDays(insights, period, of)(id)).to.deep.equal(wanted);
          }
      }),
    );
  });

  it("look at the cities of a past day once", () => {
    let looks = 0;
    const past = Array.from({ length: 90 }, () => ({
      get cities() {
        looks += 1;
        return {};
      },
    }));
    const insights = insightsOf([], { cities: {} }, 1);
    const known = { ...insights, days: past as never };
    for (const period of [90, 30, 7]) sharesOfDays(known, period, "no")("a");
    // The figures of the next minute have the same days.
    sharesOfDays({ ...known, asOfMs: 1 }, 90, "no")("a");
    expect(looks).to.equal(90);
  });
});
