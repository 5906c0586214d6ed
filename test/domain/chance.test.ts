import { expect } from "chai";
import fc from "fast-check";
import { createChances } from "#src/domain/chance/chances.ts";
import type { ChanceMark } from "#src/domain/chance/mark.ts";
import { type ChanceNumbers, shippedNumbers as numbers } from "#src/domain/chance/numbers.ts";
import { levelOf } from "#src/domain/chance/level.ts";
import { createPassage } from "#src/domain/chance/passage.ts";
import { trailOf } from "#src/domain/chance/trail.ts";
import { createShares } from "#src/domain/chance/shares.ts";
import { fuelIn, weightOf } from "#src/domain/chance/belief.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "#src/domain/units.ts";
import { sized } from "#test/harness/long.ts";
import { honestMarks, t0 as day } from "#test/domain/chance-country.ts";
import { oracleChance, oraclePriors } from "#test/oracle/chance.ts";

const t0 = day + 6 * hourMs;
const passage = createPassage(numbers);
const create = (changed: Partial<ChanceNumbers> = {}) =>
  createChances({ ...numbers, ...changed }, () => 0, passage);
const runs = { numRuns: sized(12, 500) };

/** A mark of someone who has been known for weeks, and is nobody else's hand. */
const mark = (
  id: number,
  at: number,
  fuel: boolean,
  more: Partial<ChanceMark> = {},
): ChanceMark => ({
  id,
  at,
  fuel,
  stationId: "a",
  reporterId: id,
  firstSeen: t0 - 20 * dayMs - id * hourMs,
  remote: false,
  sourceId: 1,
  network: null,
  ...more,
});

const drawn = fc.record({
  gapMs: fc.oneof(
    fc.integer({ min: 0, max: 2 * hourMs }),
    fc.integer({ min: 0, max: 30 * dayMs }),
    fc.constant(0),
  ),
  fuel: fc.boolean(),
  station: fc.constantFrom("a", "b"),
  reporterId: fc.integer({ min: 1, max: 8 }),
  isNew: fc.boolean(),
  remote: fc.boolean(),
  sourceId: fc.constantFrom(1, 2, null),
});
/** Marks in order of time, of eight people and two stations. */
const histories = fc.array(drawn, { minLength: 1, maxLength: 30 }).map((list) => {
  let at = t0;
  return list.map(({ gapMs, station, isNew, ...one }, n) => {
    at += gapMs;
    const firstSeen = isNew ? at - hourMs : t0 - 20 * dayMs - one.reporterId * hourMs;
    return mark(n + 1, at, one.fuel, { ...one, stationId: station, firstSeen });
  });
});
const chanceAfter = (marks: readonly ChanceMark[], at: number, stationId = "a"): number | null => {
  const chances = create();
  chances.take(marks);
  return chances.chanceAt(stationId, at);
};

describe("the chance of fuel", () => {
  it("is from 0 to 1 and finite, whatever comes, after no time and after a month", () =>
    fc.assert(
      fc.property(histories, fc.integer({ min: 0, max: 30 * dayMs }), (marks, laterMs) => {
        const end = marks.at(-1)!.at;
        for (const at of [end, end + laterMs, end + 30 * dayMs])
          for (const station of ["a", "b"]) {
            const chance = chanceAfter(marks, at, station);
            if (marks.some(({ stationId }) => stationId === station))
              expect(chance).to.be.within(0, 1);
            else expect(chance).to.equal(null);
          }
      }),
      runs,
    ));

  it("is the same in whatever order the marks of one second come", () =>
    fc.assert(
      fc.property(histories, fc.array(drawn, { maxLength: 6 }), fc.nat(), (before, list, by) => {
        const second = Math.ceil((before.at(-1)!.at + 1) / secondMs) * secondMs;
        const together = list.map(({ fuel, station, reporterId, sourceId }, n) =>
          mark(1000 + n, second + n * 100, fuel, { stationId: station, reporterId, sourceId }),
        );
        const start = by % Math.max(1, together.length);
        const turned = [...together.slice(start), ...together.slice(0, start)].reverse();
        const [one, other] = [together, turned].map((marks) => {
          const chances = create();
          chances.take(before);
          chances.take(marks);
          return ["a", "b"].map((station) => chances.chanceAt(station, second + 3 * hourMs));
        });
        expect(one).to.deep.equal(other);
      }),
      runs,
    ));

  it("is the same when people who are nobody's copy speak in another order within a second", () =>
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 2, maxLength: 5 }), (says) => {
        // Before anybody is judged, so that no share is learnt between them; one rate for all.
        const still = { judges: 100, marks: { ...numbers.marks, priorHours: 1e12 } };
        const [one, other] = [says, says.toReversed()].map((list) => {
          const chances = create(still);
          chances.take(list.map((fuel, n) => mark(n + 1, t0 + n, fuel)));
          return chances.chanceAt("a", t0 + hourMs)!;
        });
        expect(one).to.be.closeTo(other!, 1e-9);
      }),
      runs,
    ));

  it("does not change with a copy, at a station whose rate weighs nothing", () =>
    fc.assert(
      fc.property(histories, fc.boolean(), (marks, sameNetwork) => {
        const steady = { marks: { ...numbers.marks, priorHours: 1e12 } };
        const last = marks.at(-1)!;
        const at = last.at + minuteMs;
        const newcomer = { network: "n", firstSeen: at - hourMs };
        const original = sameNetwork ? { ...last, ...newcomer, reporterId: 77 } : last;
        const copy = {
          ...original,
          ...(sameNetwork ? { reporterId: 78, firstSeen: at - 2 * hourMs } : {}),
          id: last.id + 1,
          at,
        };
        const history = [...marks.slice(0, -1), original];
        const [without, along] = [history, [...history, copy]].map((list) => {
          const chances = create(steady);
          chances.take(list);
          return chances.chanceAt(last.stationId, at + hourMs)!;
        });
        expect(along).to.be.closeTo(without!, 1e-9);
      }),
      runs,
    ));

  it("hears a hand that says otherwise than before", () => {
    const marks = [mark(1, t0, false), mark(2, t0 + hourMs, true, { reporterId: 1 })];
    marks[1]!.firstSeen = marks[0]!.firstSeen;
    expect(chanceAfter(marks, t0 + hourMs)).to.be.greaterThan(0.7);
  });

  it("follows somebody who says otherwise than all before", () => {
    for (const fuel of [true, false]) {
      const before = [0, 1, 2].map((n) => mark(n + 1, t0 + n * hourMs, !fuel));
      const at = t0 + 7 * hourMs;
      const chance = chanceAfter([...before, mark(9, at, fuel)], at)!;
      expect(fuel ? chance : 1 - chance).to.be.greaterThan(0.5);
    }
  });

  it("treats fuel and none alike where the numbers do", () => {
    const alike = {
      fuel: { soonShare: 0.5, soonMeanMs: 2 * hourMs, lastsMeanMs: 20 * hourMs },
      none: {
        soonShare: 0.5,
        soonMeanMs: 2 * hourMs,
        refillsPerHour: Array.from({ length: 24 }, () => 1 / 20),
      },
      lies: { fuel: 1, none: 1 },
    };
    const passageOfAlike = createPassage({ ...numbers, ...alike });
    fc.assert(
      fc.property(histories, (marks) => {
        const [one, other] = [marks, marks.map((of) => ({ ...of, fuel: !of.fuel }))].map((list) => {
          const chances = createChances({ ...numbers, ...alike }, () => 0, passageOfAlike);
          chances.take(list);
          return chances.chanceAt(marks[0]!.stationId, marks.at(-1)!.at + hourMs)!;
        });
        expect(one! + other!).to.be.closeTo(1, 1e-9);
      }),
      runs,
    );
  });

  it("goes to the usual with long silence", () =>
    fc.assert(
      fc.property(histories, (marks) => {
        const at = marks.at(-1)!.at + 30 * dayMs;
        const usual = fuelIn(passage.prior(Math.floor(at / minuteMs)));
        expect(chanceAfter(marks, at, marks[0]!.stationId)).to.be.closeTo(usual, 1e-6);
      }),
      runs,
    ));

  it("keeps parts of a belief parts of it, and weights that are not negative", () =>
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.001, max: 1, noNaN: true }), { minLength: 12, maxLength: 12 }),
        fc.integer({ min: 0, max: 4000 }),
        fc.integer({ min: 0, max: 30 * 24 * 60 }),
        (belief, from, length) => {
          const [whole, half] = [belief, belief.map((weight) => weight / 2)].map((one) =>
            passage.pass(one, from, from + length),
          );
          expect(Math.min(...whole!)).to.be.at.least(0);
          expect(weightOf(half!) / weightOf(whole!)).to.be.closeTo(0.5, 1e-9);
        },
      ),
      runs,
    ));
});

describe("shares of lies", () => {
  const speaker = {
    fuel: false,
    newcomer: true,
    remote: false,
    sourceId: 1,
    reporterId: 9,
  };

  it("grow of a class whose marks others contradict, and not of those who contradict them", () => {
    const chances = create();
    const before = chances.shareOf(speaker);
    for (let n = 0; n < 60; n += 1) {
      const stationId = `s${n}`;
      const at = t0 + n * 10 * minuteMs;
      const says = (id: number, afterMs: number, fuel: boolean, isNew: boolean): ChanceMark =>
        mark(n * 10 + id, at + afterMs, fuel, {
          stationId,
          ...(isNew ? { firstSeen: at - hourMs } : {}),
        });
      chances.take(
        [
          says(1, 0, true, false),
          says(2, hourMs, true, false),
          says(3, 2 * hourMs, false, true),
          says(4, 2.2 * hourMs, true, false),
          says(5, 2.5 * hourMs, true, false),
        ].sort((a, b) => a.at - b.at),
      );
    }
    expect(chances.shareOf(speaker)).to.be.greaterThan(Math.max(0.2, 4 * before));
    const honest = { ...speaker, fuel: true, newcomer: false };
    expect(chances.shareOf(honest)).to.be.lessThan(0.05);
  });

  it("of a reporter are forgotten after days without a judged mark", () => {
    const { keptMs } = numbers.shares;
    const shares = createShares(numbers.shares);
    const [liar, stranger] = [speaker, { ...speaker, reporterId: 10 }];
    shares.learn(liar, 0.03, 1, t0);
    expect(shares.shareOf(liar)).to.be.greaterThan(0.2);
    const other = { ...speaker, sourceId: 2, fuel: true, reporterId: 11 };
    shares.learn(other, 0.03, 0, t0 + keptMs);
    expect(shares.shareOf(liar)).to.be.greaterThan(0.2);
    shares.learn(other, 0.03, 0, t0 + 2 * keptMs);
    expect(shares.shareOf(liar)).to.equal(shares.shareOf(stranger));
  });

  it("go on from where they were stored", () =>
    fc.assert(
      fc.property(histories, fc.nat({ max: 29 }), (marks, split) => {
        const [before, after] = [marks.slice(0, split), marks.slice(split)];
        const whole = create();
        for (const some of [before, after]) whole.take(some);
        const first = create();
        first.take(before);
        const shared = JSON.parse(JSON.stringify(first.shared()));
        const next = createChances(numbers, () => 0, passage, shared);
        for (const id of ["a", "b"]) {
          const station = first.get(id);
          if (station !== undefined) next.put(id, JSON.parse(JSON.stringify(station)));
        }
        next.take(after);
        const at = marks.at(-1)!.at + hourMs;
        for (const id of ["a", "b"]) {
          const [one, other] = [whole.chanceAt(id, at), next.chanceAt(id, at)];
          if (one === null) expect(other).to.equal(null);
          else expect(other).to.be.closeTo(one, 1e-9);
        }
      }),
      runs,
    ));

  it("stay within their bounds", () =>
    fc.assert(
      fc.property(histories, (marks) => {
        const chances = create();
        chances.take(marks);
        for (const { reporterId, sourceId, fuel } of marks)
          for (const newcomer of [true, false])
            expect(
              chances.shareOf({ ...speaker, reporterId, sourceId, fuel, newcomer }),
            ).to.be.within(0, numbers.shares.reporter.most);
      }),
      runs,
    ));
});

describe("weeks of marks", function () {
  this.timeout(120_000);

  /** How far from the truth the chances of the last days are, squared, and the mean share of lies of their honest `no`. */
  function after(
    days: number,
    rates: Pick<ChanceNumbers, "fuel" | "none">,
    lied: boolean,
  ): { brier: number; share: number } {
    const stations = 60;
    const { marks, spells } = honestMarks(7, { stations, days }, rates);
    const hasAt = (station: number, at: number): boolean =>
      spells[station]!.findLast((spell) => spell.at <= at)!.has;
    // Old accounts say none where there is fuel, at the time of somebody's mark.
    const lies = marks.flatMap(({ at }, n): ChanceMark[] => {
      const station = (n * 7919) % stations;
      const who = { stationId: `s${station}`, reporterId: 9000 + (n % 200), sourceId: null };
      return lied && hasAt(station, at) ? [mark(1e6 + n, at + 1, false, who)] : [];
    });
    const chances = create();
    const sums = { brier: 0, looks: 0, share: 0, honest: 0 };
    let look = t0 + (days - 4) * dayMs;
    for (const one of [...marks, ...lies].sort((a, b) => a.at - b.at)) {
      for (; look < one.at; look += 4 * hourMs)
        for (let station = 0; station < stations; station += 1) {
          const miss = chances.chanceAt(`s${station}`, look)! - Number(hasAt(station, look));
          sums.brier += miss ** 2;
          sums.looks += 1;
        }
      if (one.id < 1e6 && !one.fuel && one.at > t0 + (days - 4) * dayMs) {
        sums.share += chances.shareOf({ ...one, newcomer: false });
        sums.honest += 1;
      }
      chances.take([one]);
    }
    return { brier: sums.brier / sums.looks, share: sums.share / sums.honest };
  }
  const busy: Pick<ChanceNumbers, "fuel" | "none"> = {
    fuel: { ...numbers.fuel, soonMeanMs: 3.6 * hourMs, lastsMeanMs: 88 * hourMs },
    none: { ...numbers.none, refillsPerHour: numbers.none.refillsPerHour.map((rate) => 2 * rate) },
  };

  for (const [name, rates, lied] of [
    ["a country like the numbers", numbers, false],
    ["one that has fuel twice as often and as long", busy, false],
    ["a country like the numbers, in which a fifth lies", numbers, true],
  ] as const)
    it(`leave the chances near the truth and honest people believed, in ${name}`, () => {
      const { brier, share } = after(15, rates, lied);
      expect(brier).to.be.below(0.08);
      expect(share).to.be.below(0.2);
    });
});

describe("the level of a chance", () => {
  it("is a step of 5 less than 5 away from the chance, and stays as long as it is", () =>
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.option(fc.integer({ min: 0, max: 20 }).map((n) => n * 5)),
        (chance, before) => {
          const level = levelOf(chance, before);
          expect(level % 5).to.equal(0);
          expect(level).to.be.within(0, 100);
          expect(Math.abs(level - 100 * chance)).to.be.below(5);
          if (before !== null && Math.abs(before - 100 * chance) < 4.9)
            expect(level).to.equal(before);
          expect(levelOf(chance, level)).to.equal(level);
        },
      ),
      runs,
    ));
});

describe("the chance beside a second reading", function () {
  this.timeout(120_000);
  const priors = oraclePriors(numbers);

  it("is the same on small cases, and so is what the first mark is judged", () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ gapMin: fc.integer({ min: 0, max: 150 }), fuel: fc.boolean() }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.integer({ min: 0, max: 180 }),
        (list, laterMin) => {
          const chances = create();
          let at = t0;
          const marks = list.map(({ gapMin, fuel }, n) => {
            at += gapMin * minuteMs;
            return mark(n + 1, at, fuel);
          });
          const read = marks.map((one, n) => {
            const speaker = { ...one, newcomer: false };
            const share = chances.shareOf(speaker);
            chances.take([one]);
            return {
              minute: one.at / minuteMs,
              fuel: one.fuel,
              share,
              // Nobody has been judged yet.
              shareOfAll: numbers.shares.first,
              perHour: rateOf(marks.slice(0, n), one.at),
            };
          });
          const until = at / minuteMs + laterMin;
          const expected = oracleChance(numbers, priors, read, until);
          expect(chances.chanceAt("a", until * minuteMs)).to.be.closeTo(expected.chance, 2e-3);
          if (marks.length < 3) return;
          const first = { ...marks[0]!, newcomer: false };
          expect(chances.shareOf(first)).to.be.closeTo(learnt(expected.lied[0]!), 2e-3);
        },
      ),
      { numRuns: sized(4, 60) },
    ));

  /** Marks an hour by decisions 23.3. */
  function rateOf(before: readonly ChanceMark[], at: number): number {
    const { decayMs, perHour, priorHours } = numbers.marks;
    const weight = (since: number): number => Math.exp((since - at) / decayMs);
    const count = before.reduce((sum, one) => sum + weight(one.at), 0);
    const from = before[0]?.at ?? at;
    return (count + perHour * priorHours) / ((decayMs / hourMs) * (1 - weight(from)) + priorHours);
  }

  /** What is believed of someone whose first mark was the first of all to be judged. */
  function learnt(lied: number): number {
    const { first, doubt, eagerness, class: ofClass, source, reporter } = numbers.shares;
    const clamped = (value: number): number => Math.min(1, Math.max(0, value));
    const guilt = clamped(lied - doubt);
    const eager = clamped(first + eagerness * (lied - first) - doubt);
    const above = (ofClass.prior * first + eager) / (ofClass.prior + 1);
    const middle = (source.prior * above + guilt) / (source.prior + 1);
    return (reporter.prior * middle + guilt) / (reporter.prior + 1);
  }
});

describe("how a station's chance went", () => {
  it("ends as for who follows the marks, and tells what each mark did", () =>
    fc.assert(
      fc.property(histories, fc.integer({ min: 0, max: 2 * dayMs }), (all, laterMs) => {
        const marks = all.filter(({ stationId }) => stationId === "a");
        const until = all.at(-1)!.at + laterMs;
        const span = { from: until - 2 * dayMs, until, everyMs: hourMs };
        const trail = trailOf(numbers, undefined, marks, 0, span);
        const chances = create();
        chances.retake("a", marks);
        expect(trail.points.at(-1)?.chance ?? null).to.equal(chances.chanceAt("a", until));
        const shown = marks.filter(({ at }) => at >= span.from);
        expect(trail.marks.map(({ id }) => id)).to.have.members(shown.map(({ id }) => id));
        for (const { at, after } of trail.marks)
          expect(trail.points.some((one) => one.at === at && one.chance === after)).to.equal(true);
        const times = trail.points.map(({ at }) => at);
        expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
      }),
      runs,
    ));
});
