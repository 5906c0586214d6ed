import { expect } from "chai";
import fc from "fast-check";
import { isRefusal } from "#src/contract/refusals.ts";
import { markToWithdraw, type OwnMark, withdrawMs } from "#src/domain/withdraw-mark.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { openDesk, verdict } from "#test/domain/desk.ts";
import { hour, minute, t0 } from "#test/domain/marks.ts";

const rules = { cooldownMs: 20 * minute };
const mark = (id: number, more: Partial<OwnMark> = {}): OwnMark => ({
  id,
  ...{ review: "none", receivedAt: t0, takenBackAt: null },
  ...more,
});

/** The number of the mark that is taken back; null when it is refused. */
function taken(marks: readonly OwnMark[], atMs: number): number | null {
  const found = markToWithdraw(marks, t0 + atMs, rules);
  if (!isRefusal(found)) return found.id;
  expect(found.code).to.equal("nothing-to-take-back");
  return null;
}

describe("an own mark is taken back (decisions 15.35)", () => {
  it("up to two minutes after its receipt, the end included", () => {
    expect(taken([mark(1)], 0)).to.equal(1);
    expect(taken([mark(1)], 120_000)).to.equal(1);
    expect(taken([mark(1)], 120_001)).to.equal(null);
    expect(taken([], 0)).to.equal(null);
  });

  it("counted or held, and not when an operator has decided", () => {
    const reviews = ["none", "held", "approved", "rejected", "withdrawn"];
    const possible = reviews.filter((review) => taken([mark(1, { review })], 1) !== null);
    expect(possible).to.deep.equal(["none", "held"]);
  });

  it("never the same twice, and one at most within a cooldown, whatever is marked and taken back when", () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 6 * minute }),
      marks: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const marks: OwnMark[] = [];
        const times: number[] = [];
        let now = t0;
        for (const { waitMs, marks: isMark } of steps) {
          now += waitMs;
          if (isMark) marks.unshift(mark(marks.length + 1, { receivedAt: now }));
          else {
            const found = markToWithdraw(marks, now, rules);
            const newest = marks[0];
            const isPossible =
              newest !== undefined &&
              newest.takenBackAt === null &&
              now - newest.receivedAt <= withdrawMs &&
              times.every((at) => now - at >= rules.cooldownMs);
            expect(isRefusal(found)).to.equal(!isPossible);
            if (isRefusal(found)) continue;
            expect(found).to.equal(newest);
            Object.assign(found, { review: "withdrawn", takenBackAt: now });
            times.push(now);
          }
        }
      }),
    );
  });
});

describe("the next mark after one that was taken back (decisions 15.36)", () => {
  it("meets neither cooldown nor duplicate, whatever it says, and the caps as if nothing had been taken back", () => {
    const said = fc.constantFrom(...statuses);
    fc.assert(
      fc.property(said, said, fc.nat(2 * minute), fc.boolean(), (first, next, atMs, isNew) => {
        const desk = openDesk();
        desk.meet("one", isNew ? 0 : 720 * hour);
        desk.send({ atMs: 0, status: first });
        desk.takeBack("one", 1);
        expect(verdict(desk.send({ atMs, status: next }))).to.equal("accepted");
        const again = verdict(desk.send({ atMs, status: next }));
        expect(again).to.equal("duplicate of 2");
        // Twelve an hour: both marks of the station are among them.
        for (let n = 1; n <= 10; n += 1)
          expect(verdict(desk.send({ atMs, stationId: `s${n}` }))).to.equal("accepted");
        expect(verdict(desk.send({ atMs, stationId: "over" }))).to.equal("user-rate-limited");
      }),
    );
  });

  it("but an earlier mark that stands keeps its cooldown, and the id of the one taken back stays taken", () => {
    const desk = openDesk();
    desk.meet("one", 720 * hour);
    desk.send({ atMs: 0 });
    const widget = { partnerId: null, viewer: "net", externalId: "said" };
    expect(
      verdict(desk.send({ atMs: 3 * minute, status: "no", express: true, ...widget })),
    ).to.equal("accepted");
    desk.takeBack("one", 2);
    const at = { atMs: 4 * minute };
    expect(verdict(desk.send({ ...at, status: "low" }))).to.equal("station-cooldown");
    expect(verdict(desk.send({ ...at, status: "no", ...widget }))).to.equal("duplicate of 2");
    expect(verdict(desk.send({ ...at, status: "low", express: true }))).to.equal("accepted");
  });
});
