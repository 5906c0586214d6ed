import { expect } from "chai";
import fc from "fast-check";
import { nightFrom, nightTo, pauseUntilTold } from "#src/domain/wall-clock.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";

const day = "2026-11-23";
const perDay = 3;
const clock = fc.record({
  day: fc.constant(day),
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.integer({ min: 0, max: 59 }),
});
const told = fc.record({
  day: fc.constantFrom(null, day, "2026-11-22"),
  count: fc.integer({ min: 0, max: 5 }),
});

describe("domain: when a driver may be told", () => {
  it("is now, or the next morning that the clock shows", () => {
    fc.assert(
      fc.property(clock, fc.boolean(), told, (local, isKnown, before) => {
        const pause = pauseUntilTold(local, isKnown, before, perDay);
        const minute = local.hour * 60 + local.minute + pause / minuteMs;
        if (pause > 0) expect(minute % 1440).to.equal(nightTo * 60);
        expect(pause).to.be.within(0, 31 * hourMs);
      }),
    );
  });

  it("is never at night, and never once more on a day that had enough", () => {
    fc.assert(
      fc.property(clock, told, (local, before) => {
        const isNight = local.hour >= nightFrom || local.hour < nightTo;
        const isSpent = before.day === day && before.count >= perDay;
        expect(pauseUntilTold(local, true, before, perDay) === 0).to.equal(!isNight && !isSpent);
        const unknown = pauseUntilTold(local, false, before, perDay);
        expect(unknown === 0).to.equal(!isSpent);
        // The next morning is one of the next day.
        if (isSpent) expect(local.hour + unknown / hourMs).to.be.at.least(24);
      }),
    );
  });
});
