import { expect } from "chai";
import fc from "fast-check";
import { hourMs } from "#src/domain/units.ts";
import { givenUpAfterMs, pauseAfterFailure, takenBy } from "#src/domain/webhook-retry.ts";

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const firstPauseMs = 5000;

/** The times, ms from the first failure, at which a receiver that always fails is tried; the last one gives it up. */
function attempts(chances: readonly number[]): number[] {
  const times = [0];
  for (let failures = 1; ; failures++) {
    const now = times.at(-1)!;
    const chance = chances[failures % chances.length]!;
    const pause = pauseAfterFailure({ failures, since: 0 }, { now, firstPauseMs, random: chance });
    if (pause === null) return times;
    times.push(now + pause);
  }
}

describe("domain: attempts to deliver a webhook", () => {
  it("end with the first failure after three days, and not before", () => {
    fc.assert(
      fc.property(fc.array(random, { minLength: 1, maxLength: 50 }), (chances) => {
        const times = attempts(chances);
        expect(times.at(-1)).to.equal(givenUpAfterMs);
        expect(times.length).to.be.within(18, 40);
      }),
    );
  });

  it("come in growing pauses of at most four hours, give or take a fifth", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), random, (failures, chance) => {
        const now = 0;
        const pause = pauseAfterFailure(
          { failures, since: 0 },
          { now, firstPauseMs, random: chance },
        )!;
        const usual = Math.min(4 * hourMs, firstPauseMs * 4 ** (failures - 1));
        expect(pause).to.be.within(Math.floor(0.8 * usual), Math.ceil(1.2 * usual));
      }),
    );
  });

  it("are taken by 2xx, ended by 410, and failed by everything else", () => {
    fc.assert(
      fc.property(fc.option(fc.integer({ min: 100, max: 599 })), (status) => {
        const expected =
          status === 410
            ? "gone"
            : status !== null && status >= 200 && status < 300
              ? "taken"
              : "failed";
        expect(takenBy(status)).to.equal(expected);
      }),
    );
  });
});
