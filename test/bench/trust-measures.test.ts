import { expect } from "chai";
import fc from "fast-check";
import { createRandom } from "#demo/country/random.ts";
import { emptyState } from "#src/domain/state.ts";
import { hourMs } from "#src/domain/units.ts";
import { view } from "#src/domain/view.ts";
import { agreementOf, lagOf } from "#bench/trust/measures.ts";
import { movedBy } from "#bench/trust/moved.ts";
import { median } from "#bench/trust/report.ts";
import type { Timelines } from "#bench/trust/timeline.ts";
import { partnersUser, type SentMark } from "#bench/trust/traffic.ts";
import { figuresOf, makeTruth, type Truth } from "#bench/trust/truth.ts";

const from = Date.parse("2026-01-14T00:00:00Z");
const until = from + 50 * hourMs;
const window = { from, until };
const truthOf = (seed: number): Truth => makeTruth(createRandom(seed), 8, from, until);
const seeds = fc.integer({ min: 1, max: 1e6 });
const nothing = view(emptyState, 0, 24 * hourMs);

/** Stations that always serve what is true, or (`lie`) what is not, `delayMs` after each change. */
const serving = (truth: Truth, lie: boolean, delayMs = 0): Timelines =>
  truth.map((spells) =>
    spells.map((spell) => ({
      at: spell.from + delayMs,
      fuel: { ...nothing, status: spell.fuel === lie ? "no" : "yes" },
    })),
  );

const reportsOf = (truth: Truth): SentMark[] =>
  truth.flatMap((spells, station) =>
    spells.map((spell): SentMark => ({
      at: spell.from,
      station,
      status: spell.fuel ? "yes" : "no",
      reporter: partnersUser(1, "somebody"),
      position: null,
      honest: true,
    })),
  );

describe("bench trust: the truth", () => {
  it("leaves no gap, takes turns, and is the same for the same seed", () =>
    fc.assert(
      fc.property(seeds, (seed) => {
        const truth = truthOf(seed);
        expect(truthOf(seed)).to.deep.equal(truth);
        for (const spells of truth) {
          expect(spells[0]!.from).to.equal(from);
          expect(spells.at(-1)!.until).to.equal(until);
          for (const [index, spell] of spells.slice(1).entries()) {
            expect(spell.from).to.equal(spells[index]!.until);
            expect(spell.fuel).to.not.equal(spells[index]!.fuel);
          }
        }
      }),
      { numRuns: 50 },
    ));

  it("is empty after a sudden shortage, there and nowhere else", () =>
    fc.assert(
      fc.property(seeds, (seed) => {
        const at = from + 20 * hourMs;
        const stations = new Set([0, 1, 2, 3]);
        const short = makeTruth(createRandom(seed), 8, from, until, { at, stations });
        expect(short.slice(4)).to.deep.equal(truthOf(seed).slice(4));
        const figures = figuresOf(short.slice(0, 4), at + hourMs, at + 6 * hourMs);
        const usual = figuresOf(truthOf(seed).slice(0, 4), at + hourMs, at + 6 * hourMs);
        expect(figures.fuelShare).to.be.at.most(usual.fuelShare);
      }),
      { numRuns: 50 },
    ));

  it("has the real series' medians and changes, roughly", () => {
    const truth = makeTruth(createRandom(5), 4000, from, until);
    const { yesMedianH, noMedianH, changes } = figuresOf(truth, from, until);
    expect(yesMedianH).to.be.within(1.2, 1.6);
    expect(noMedianH).to.be.within(6.5, 8.5);
    expect(changes / 4000 / 50).to.be.within(0.056, 0.068);
  });
});

describe("bench trust: the measures", () => {
  it("gives full marks to the truth and none to its opposite", () =>
    fc.assert(
      fc.property(seeds, (seed) => {
        const truth = truthOf(seed);
        const right = agreementOf(truth, serving(truth, false), window);
        expect(right.agreement).to.be.closeTo(1, 1e-9);
        expect([right.falseNo, right.falseFuel]).to.deep.equal([0, 0]);
        const wrong = agreementOf(truth, serving(truth, true), window);
        expect(wrong.agreement).to.be.closeTo(0, 1e-9);
        expect(wrong.falseNo).to.be.closeTo(1, 1e-9);
        expect(wrong.falseFuel).to.be.closeTo(1, 1e-9);
      }),
      { numRuns: 50 },
    ));

  it("counts nothing served as wrong, and as no error", () => {
    const truth = truthOf(1);
    const silent = truth.map(() => []);
    expect(agreementOf(truth, silent, window)).to.deep.equal({
      agreement: 0,
      falseNo: 0,
      falseFuel: 0,
    });
  });

  it("measures the lag from the first honest report", () => {
    const truth: Truth = [
      [
        { from, until: from + 5 * hourMs, fuel: true },
        { from: from + 5 * hourMs, until, fuel: false },
      ],
    ];
    const late = serving(truth, false, 30 * 60_000);
    expect(lagOf(truth, late, reportsOf(truth), window)).to.deep.equal({
      p50: 30,
      p90: 30,
      never: 0,
    });
    const never = lagOf(truth, [[]], reportsOf(truth), window);
    expect(never).to.deep.equal({ p50: null, p90: null, never: 1 });
  });

  it("finds a moved station, and what a driver acts on apart from counts", () => {
    const truth = truthOf(3);
    const served = serving(truth, false);
    expect(movedBy(served, served, window)).to.deep.equal({ acted: 0, anyField: 0 });
    const counted = served.map((shown, station) =>
      station === 2 ? [...shown, { at: until - 1, fuel: { ...nothing, pending_count: 7 } }] : shown,
    );
    const plain = served.map((shown, station) =>
      station === 2 ? [...shown, { at: until - 1, fuel: nothing }] : shown,
    );
    expect(movedBy(counted, plain, window)).to.deep.equal({ acted: 0, anyField: 1 });
    expect(movedBy(counted, served, window)).to.deep.equal({ acted: 1, anyField: 1 });
  });

  it("takes a median that was measured", () =>
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const middle = median(values)!;
        expect(values).to.include(middle);
        expect(values.filter((one) => one < middle).length).to.be.at.most(values.length / 2);
        expect(values.filter((one) => one > middle).length).to.be.at.most(values.length / 2);
      }),
    ));
});
