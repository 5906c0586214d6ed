import { expect } from "chai";
import fc from "fast-check";
import { createChances, type HeardMark } from "#src/domain/chance/chances.ts";
import {
  areSuspect,
  type HeardStation,
  isNear,
  learnRates,
  namedRates,
  type Rates,
  stepTowards,
} from "#src/domain/chance/learning.ts";
import type { ChanceMark } from "#src/domain/chance/mark.ts";
import { type ChanceNumbers, shippedNumbers as shipped } from "#src/domain/chance/numbers.ts";
import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";
import { honestMarks, t0 } from "#test/domain/chance-country.ts";
import { sized } from "#test/harness/long.ts";

const days = 3;
const until = t0 + days * dayMs;
const marksOf = (seed: number, stations: number, rates: Rates): ChanceMark[] =>
  honestMarks(seed, { stations, days }, rates).marks;

/** As a run from nothing hears them, with no lies to learn of. */
function heardBy(marks: readonly ChanceMark[], numbers: ChanceNumbers = shipped): HeardStation[] {
  const heard = new Map<string, HeardMark[]>();
  const chances = createChances(
    numbers,
    () => 0,
    undefined,
    undefined,
    (id, mark) => {
      heard.set(id, [...(heard.get(id) ?? []), mark]);
    },
  );
  chances.take(marks);
  return [...heard.values()].map((list) => ({ marks: list, until: until / minuteMs }));
}

function learnt(numbers: ChanceNumbers, stations: readonly HeardStation[]) {
  const work = learnRates(numbers, stations);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

const refillsTimes = (factor: number): Rates => ({
  fuel: shipped.fuel,
  none: { ...shipped.none, refillsPerHour: shipped.none.refillsPerHour.map((r) => r * factor) },
});
const meanRefills = ({ none }: Rates): number =>
  none.refillsPerHour.reduce((sum, rate) => sum + rate) / 24;
const shippedRefills = meanRefills(shipped);

describe("rates of change that are learnt", () => {
  it("stay the shipped ones where these are true, and follow a country with more or fewer refills", function () {
    this.timeout(120_000);
    const bounds = [[0.25, 0.25, 0.93] as const, [1, 0.9, 1.1] as const, [4, 1.05, 4] as const];
    for (const [factor, least, most] of bounds.slice(sized(1, 0))) {
      const marks = marksOf(3, factor === 1 ? sized(20, 60) : sized(40, 60), refillsTimes(factor));
      const { rates, changes } = learnt(shipped, heardBy(marks));
      expect(changes).to.be.greaterThan(sized(20, 80));
      expect(meanRefills(rates) / shippedRefills).to.be.within(least, most);
    }
  });

  it("hear that fuel which is gone soon lasts longer", function () {
    this.timeout(120_000);
    const longer = { ...shipped.fuel, soonShare: 0.95, soonMeanMs: 8 * hourMs };
    const { rates } = learnt(shipped, heardBy(marksOf(4, 80, { ...shipped, fuel: longer })));
    expect(rates.fuel.soonMeanMs).to.be.within(1.9 * hourMs, 8 * hourMs);
  });

  it("know the hour of the day in which stations are refilled", function () {
    this.timeout(120_000);
    const morning = shipped.none.refillsPerHour.map((_, hour) => (hour === 9 ? 0.6 : 0.02));
    const truth = { ...shipped, none: { ...shipped.none, refillsPerHour: morning } };
    const { rates } = learnt(shipped, heardBy(marksOf(5, sized(40, 80), truth)));
    const ratios = rates.none.refillsPerHour.map((r, n) => r / shipped.none.refillsPerHour[n]!);
    expect(ratios.indexOf(Math.max(...ratios))).to.equal(9);
  });

  it("are the shipped ones with little data or none", () => {
    expect(isNear(learnt(shipped, []).rates, shipped)).to.equal(true);
    const { rates } = learnt(shipped, heardBy(marksOf(6, 3, refillsTimes(4))));
    expect(isNear(rates, shipped)).to.equal(true);
  });

  const even: ChanceNumbers = {
    ...shipped,
    fuel: { soonShare: 0.5, soonMeanMs: 3 * hourMs, lastsMeanMs: 30 * hourMs },
    none: {
      ...{ soonShare: 0.5, soonMeanMs: 3 * hourMs },
      refillsPerHour: shipped.none.refillsPerHour.map(() => 1 / 30),
    },
    lies: { fuel: 1, none: 1 },
  };
  const says = fc.array(fc.tuple(fc.integer({ min: 1, max: 200 }), fc.boolean()), {
    minLength: 1,
    maxLength: 20,
  });
  const stationOf = (list: readonly (readonly [number, boolean])[], turned: boolean) => {
    let at = t0;
    return list.map(([minutes, fuel], n): ChanceMark => {
      at += minutes * minuteMs;
      return {
        ...{ id: n + 1, at, stationId: "a", reporterId: n, firstSeen: t0 - 9 * dayMs - n * hourMs },
        ...{ fuel: fuel !== turned, remote: false, network: null, sourceId: null },
      };
    });
  };

  it("are those of the mirrored marks, mirrored, under numbers that treat both alike", () =>
    fc.assert(
      fc.property(says, (list) => {
        const [one, other] = [false, true].map((turned) => {
          // Many alike, so that they weigh against what was known before.
          const stations = heardBy(stationOf(list, turned), even);
          return learnt(
            even,
            Array.from({ length: 5 }, () => stations[0]!),
          ).rates;
        });
        expect(one!.fuel.soonMeanMs).to.be.closeTo(other!.none.soonMeanMs, 1000);
        expect(one!.fuel.soonShare).to.be.closeTo(other!.none.soonShare, 1e-6);
        expect(one!.none.soonMeanMs).to.be.closeTo(other!.fuel.soonMeanMs, 1000);
      }),
      { numRuns: sized(2, 60) },
    ));

  it("are finite and within a quarter and four times the shipped ones, whatever was heard", () =>
    fc.assert(
      fc.property(says, fc.integer({ min: 1, max: 8 }), (list, times) => {
        const [station] = heardBy(stationOf(list, false));
        const { rates } = learnt(
          shipped,
          Array.from({ length: times }, () => station!),
        );
        const [now, before] = [namedRates(rates), namedRates(shipped)];
        for (const [name, value] of Object.entries(now)) {
          if (name.endsWith("share")) expect(value, name).to.be.within(0.01, 0.99);
          else expect(value / before[name]!, name).to.be.within(0.25 - 1e-9, 4 + 1e-9);
        }
      }),
      { numRuns: sized(2, 100) },
    ));

  it("come nearer by a step a night, and arrive", () => {
    const wanted = refillsTimes(2);
    let now: Rates = shipped;
    const first = stepTowards(now, wanted);
    expect(meanRefills(first) / shippedRefills).to.be.closeTo(1.15, 1e-9);
    for (let night = 0; night < 5; night += 1) now = stepTowards(now, wanted);
    expect(isNear(now, wanted)).to.equal(true);
    expect(isNear(shipped, first)).to.equal(false);
  });

  it("are not learnt of marks of which too many look like lies", () => {
    const marks = heardBy(marksOf(7, 10, shipped)).flatMap((one) => one.marks);
    expect(areSuspect(marks)).to.equal(false);
    expect(areSuspect(marks.map((mark) => ({ ...mark, share: 0.06 })))).to.equal(true);
    expect(areSuspect([])).to.equal(false);
  });
});
