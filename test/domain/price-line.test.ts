import { expect } from "chai";
import fc from "fast-check";
import { decide } from "#src/domain/decide.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import {
  type ByGrade,
  cellOf,
  createPriceGrid,
  isOutOfLine,
  pricesNeeded,
} from "#src/domain/price-line.ts";
import { type Mark, order } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { defaults, openDesk, station } from "#test/domain/desk.ts";
import {
  apart,
  arbFirstSeen,
  deliver,
  hour,
  judgedInOrder,
  mark,
  remote,
  rules,
  t0,
} from "#test/domain/marks.ts";
import { sized } from "#test/harness/long.ts";

const cellDegrees = 0.5;
/** A point `m` metres from `from`: north of it, or east along its parallel. */
const north = ({ lat, lon }: Point, m: number): Point => ({ lat: lat + m / 111_195.08, lon });
const east = ({ lat, lon }: Point, m: number): Point => {
  const there = lon + m / 111_195.08 / Math.cos((lat * Math.PI) / 180);
  return { lat, lon: there >= 180 ? there - 360 : there };
};
type Priced = [place: Point, prices: ByGrade];
const priced = (place: Point, ...prices: number[]): Priced[] =>
  prices.map((price) => [place, { "95": price }]);
const ten = [58, 58.5, 59, 59.5, 60, 60.5, 61, 61.5, 62, 62.5];
const mediansAt = (place: Point, prices: readonly Priced[], more = {}) => {
  const grid = createPriceGrid({ ...defaults, ...more });
  for (const one of prices) grid.add(...one);
  return grid.mediansOf(cellOf(place));
};
const medianAt = (...asked: Parameters<typeof mediansAt>) => mediansAt(...asked)["95"];

describe("price line: the median around a place (decisions 2.29)", () => {
  const place = { lat: 55.1, lon: 37.1 };
  const middle = { lat: 55.25, lon: 37.25 };

  it("is the middle one of the prices of a grade, of an even count between the two", () => {
    expect(medianAt(place, priced(place, ...ten))).to.equal(60.25);
    expect(medianAt(place, priced(place, ...ten, 1000))).to.equal(60.5);
    expect(medianAt(place, priced(place, ...ten.with(5, 60.01)))).to.equal(60.01);
  });

  it("is there with ten prices, not with nine, and each grade has its own", () => {
    expect(medianAt(place, priced(place, ...ten.slice(1)))).to.equal(undefined);
    const both = ten.map((price, n): Priced => [
      place,
      { "98": price, ...(n === 0 && { "95": 1 }) },
    ]);
    expect(mediansAt(place, both)).to.deep.equal({ "98": 60.25 });
  });

  it("counts what is within 100 km of the middle of the cell, in every direction", () => {
    const nine = priced(middle, ...ten.slice(0, 9));
    for (const metres of [99_900, -99_900]) {
      expect(medianAt(place, [...nine, ...priced(north(middle, metres), 70)])).to.equal(60.25);
      expect(medianAt(place, [...nine, ...priced(east(middle, metres), 70)])).to.equal(60.25);
    }
    for (const metres of [100_300, -100_300]) {
      expect(medianAt(place, [...nine, ...priced(north(middle, metres), 70)])).to.equal(undefined);
      expect(medianAt(place, [...nine, ...priced(east(middle, metres), 70)])).to.equal(undefined);
    }
  });

  it("is the same in a whole cell, and another one beyond its border", () => {
    expect(cellOf({ lat: 55, lon: 37 })).to.equal(cellOf({ lat: 55.4999, lon: 37.4999 }));
    expect(cellOf({ lat: 55.5, lon: 37 })).not.to.equal(cellOf({ lat: 55.4999, lon: 37 }));
    expect(cellOf({ lat: 55, lon: 37.5 })).not.to.equal(cellOf({ lat: 55, lon: 37.4999 }));
    // Within reach of one middle, and not of the next.
    const far = priced(north(middle, -90_000), ...ten);
    expect(medianAt({ lat: 55.4999, lon: 37 }, far)).to.equal(60.25);
    expect(medianAt({ lat: 55.5, lon: 37 }, far)).to.equal(undefined);
  });

  it("reaches across 180°, and to the poles", () => {
    const edge = { lat: 66, lon: 179.99 };
    expect(cellOf({ lat: 66, lon: 180 })).to.equal(cellOf({ lat: 66, lon: -180 }));
    const beyond = east({ lat: 66.1, lon: 179.9 }, 60_000);
    expect(beyond.lon).to.be.below(-178);
    expect(medianAt(edge, priced(beyond, ...ten))).to.equal(60.25);
    expect(medianAt(beyond, priced(edge, ...ten))).to.equal(60.25);
    expect(medianAt({ lat: 89.95, lon: 10 }, priced({ lat: 89.6, lon: -170 }, ...ten))).to.equal(
      60.25,
    );
    for (const lat of [90, -90])
      expect(medianAt({ lat, lon: 0 }, priced({ lat, lon: 0 }, ...ten))).to.equal(60.25);
  });

  it("is what a look at every price finds, wherever the cell is", () => {
    const thousandths = (min: number, max: number) =>
      fc.integer({ min: min * 1000, max: max * 1000 }).map((n) => n / 1000);
    const arbPlace = fc.record({
      lat: fc.oneof(thousandths(-90, 90), thousandths(65, 67)),
      lon: fc.oneof(thousandths(-180, 180), thousandths(178, 180), thousandths(-180, -178)),
    });
    const arbNear = fc.tuple(thousandths(-2, 2), thousandths(-4, 4));
    fc.assert(
      fc.property(
        arbPlace,
        fc.array(fc.tuple(arbNear, fc.integer({ min: 1, max: 9 })), { maxLength: 40 }),
        (at, list) => {
          const prices = list.map(([[dLat, dLon], price]): Priced => {
            const lat = Math.max(-90, Math.min(90, at.lat + dLat));
            return [{ lat, lon: ((at.lon + dLon + 540) % 360) - 180 }, { "95": price }];
          });
          const centre = {
            lat: (Math.min(359, Math.floor((at.lat + 90) / cellDegrees)) + 0.5) * cellDegrees - 90,
            lon: (Math.floor((at.lon === 180 ? -180 : at.lon) / cellDegrees) + 0.5) * cellDegrees,
          };
          const near = prices
            .filter(([place]) => distanceM(place, centre) <= 100_000)
            .map(([, prices]) => prices["95"]!)
            .sort((a, b) => a - b);
          const half = near.length / 2;
          const expected =
            near.length < 3
              ? undefined
              : (near[Math.floor(half - 0.5)]! + near[Math.ceil(half - 0.5)]!) / 2;
          expect(medianAt(at, prices, { priceNearMin: 3 })).to.equal(expected);
        },
      ),
      { numRuns: sized(200, 2000) },
    );
  });
});

describe("price line: which price is out of line (decisions 2.29)", () => {
  it("one that is further than 30 % from the median, above or below; none without a median", () => {
    for (const price of [42, 78, 60.25]) expect(isOutOfLine(price, 60, defaults)).to.equal(false);
    for (const price of [41.99, 78.01, 999])
      expect(isOutOfLine(price, 60, defaults)).to.equal(true);
    expect(isOutOfLine(999, null, defaults)).to.equal(false);
  });

  it("says of each grade of a mark what it needs, and nothing of a mark in line", () => {
    const prices = { "92": 60, "95": 999, "98": 1 };
    expect(pricesNeeded(prices, { "92": 60, "95": 60 }, defaults)).to.deep.equal({ "95": 2 });
    expect(pricesNeeded(prices, {}, defaults)).to.equal(null);
    expect(pricesNeeded({ "92": 60 }, { "92": 60, "95": 60 }, defaults)).to.equal(null);
  });

  it("is judged at acceptance, for a key with a threshold of one too", () => {
    const desk = openDesk();
    const medians = { "95": 60 };
    const sent = { prices: { "95": 999, "98": 999 }, medians, station };
    for (const [n, confirmMin] of [0, 1, 5].entries())
      expect(desk.send({ atMs: 0, reporter: `r${n}`, confirmMin, ...sent })).to.deep.include({
        pricesNeeded: { "95": 2 },
        needed: Math.max(1, confirmMin),
      });
    expect(desk.send({ atMs: 0, reporter: "in line", ...sent, prices: { "95": 61 } })).to.include({
      pricesNeeded: null,
    });
    expect(desk.send({ atMs: 0, reporter: "silent", medians })).to.include({ pricesNeeded: null });
  });
});

const out = { pricesNeeded: { "95": 2 } } as const;
const at = (price: number, more: Partial<Mark> = {}): Partial<Mark> => ({
  prices: { "95": price },
  ...more,
});
const served = (marks: readonly Mark[], firstSeen = apart) => {
  const now = Math.max(...marks.map((one) => one.at));
  return view(deliver(marks, now, firstSeen, true).state, now, rules.statusLifetimeMs).prices;
};

describe("price line: what is served (decisions 2.29)", () => {
  const known = mark(1, 1, 0, at(60));

  it("does not serve a price out of line of one device, and keeps the one before", () => {
    expect(served([mark(1, 1, 0, at(999, out))])).to.equal(undefined);
    expect(served([known, mark(2, 2, 5, at(999, out))])).to.equal("95=60.00");
  });

  it("serves the newest when a second device states one within 5 % of it", () => {
    const first = mark(2, 2, 5, at(999, out));
    expect(served([known, first, mark(3, 3, 9, at(980, out))])).to.equal("95=980.00");
    // 5 % of 1000 is 50.
    expect(served([known, mark(2, 2, 5, at(950, out)), mark(3, 3, 9, at(1000, out))])).to.equal(
      "95=1000.00",
    );
    expect(served([known, mark(2, 2, 5, at(949.99, out)), mark(3, 3, 9, at(1000, out))])).to.equal(
      "95=60.00",
    );
  });

  it("takes a price in line for the second device, and serves it by itself", () => {
    const inLine = mark(2, 2, 5, at(76));
    expect(served([known, inLine, mark(3, 3, 9, at(79, out))])).to.equal("95=79.00");
    expect(served([known, mark(2, 2, 5, at(79, out)), mark(3, 3, 9, at(76))])).to.equal("95=76.00");
  });

  it("does not take a price in line of the same device for the second one", () => {
    const twins = (reporter: number) => apart(Math.min(2, reporter));
    const marks = [known, mark(2, 2, 5, at(76)), mark(3, 3, 9, at(79, out))];
    expect(served(marks, twins)).to.equal("95=76.00");
    expect(served(marks)).to.equal("95=79.00");
  });

  it("does not let a price in line be served by an equal one out of line of the same device", () => {
    const twins = (reporter: number) => apart(Math.min(2, reporter));
    const marks = [known, mark(2, 2, 5, at(79, out)), remote(3, 3, 9, at(79))];
    expect(served(marks, twins)).to.equal("95=60.00");
    expect(served(marks)).to.equal("95=79.00");
  });

  it("asks for as many devices as the least demanding mark, and for two at least", () => {
    const three = { needed: 3, rule: "key-threshold" } as const;
    const marks = [
      known,
      mark(2, 2, 5, at(999, { ...three, ...out })),
      mark(3, 3, 6, at(990, { ...three, ...out })),
    ];
    expect(served(marks)).to.equal("95=60.00");
    expect(served([...marks, mark(4, 4, 7, at(980, { ...three, ...out }))])).to.equal("95=980.00");
    expect(served([...marks, mark(4, 4, 7, at(980, out))])).to.equal("95=980.00");
  });
});

describe("price line: harm (decisions 4.3)", () => {
  const harmsOf = (marks: readonly Mark[]) => {
    const newest = marks.at(-1)!;
    const { state, opinions } = deliver(marks.slice(0, -1), newest.at, apart, true);
    const facts = { state, opinions: [...opinions.values()], history: null };
    return decide(facts, { marks: [newest], seeds: [] }, apart, newest.at, rules).harms;
  };
  const first = mark(2, 2, 5, at(999, out));

  it("is done by the mark that makes a price out of line served, not by one that waits", () => {
    expect(harmsOf([mark(1, 1, 0, at(60)), first]).size).to.equal(0);
    const second = mark(3, 3, 9, at(980, out));
    expect(harmsOf([mark(1, 1, 0, at(60)), first, second]).get(3)).to.deep.equal({
      ...{ from: "yes", to: "yes", kind: "details", isPending: false },
    });
    const third = mark(4, 4, 12, at(61));
    expect(harmsOf([mark(1, 1, 0, at(60)), first, second, third]).size).to.equal(0);
  });

  it("is done too where nothing was served, and where the station is out of fuel", () => {
    const no = { status: "no", ...out } as const;
    const gone = [mark(1, 1, 0, { status: "no" }), mark(2, 2, 5, at(999, no))];
    expect(harmsOf([...gone, mark(3, 3, 9, at(980, no))]).get(3)).to.include({ kind: "details" });
    const pair = [remote(1, 1, 0, at(999, out)), remote(2, 2, 5, at(980, out))];
    expect(harmsOf(pair).get(2)).to.include({ kind: "details", from: "nodata" });
    expect(harmsOf([remote(1, 1, 0), remote(2, 2, 5, at(980, out))]).get(2)).to.include({
      kind: "first",
    });
  });
});

describe("price line: whatever is sent (decisions 2.29)", () => {
  const now = t0 + 60 * hour;
  const arbPriced = fc
    .array(
      fc.record({
        reporterId: fc.integer({ min: 1, max: 8 }),
        at: fc.integer({ min: 0, max: 180 }),
        status: fc.constantFrom("yes", "yes", "yes", "low", "no"),
        isRemote: fc.boolean(),
        price: fc.constantFrom(60, 62, 900, 930, 960, 999, null),
        // What is far from the median at one time may be near it at another.
        isOut: fc.boolean(),
      }),
      { minLength: 1, maxLength: 25 },
    )
    .map((list) =>
      list.map(({ reporterId, at: minutes, status, isRemote, price, isOut }, index): Mark => ({
        ...mark(index + 1, reporterId, minutes, {
          ...{ status: status as Mark["status"], remote: isRemote },
          ...(isRemote ? { needed: 2, rule: "remote" as const } : {}),
          ...(price === null ? {} : at(price)),
          ...(price !== null && isOut ? out : {}),
        }),
      })),
    );

  it("any order of delivery gives the same prices", () => {
    fc.assert(
      fc.property(
        arbPriced.chain((marks) =>
          fc.tuple(fc.constant(marks), fc.shuffledSubarray(marks, { minLength: marks.length })),
        ),
        arbFirstSeen,
        ([marks, delivered], firstSeen) => {
          const judged = judgedInOrder(marks, now, firstSeen);
          const inThatOrder = delivered.map(({ id }) => judged.find((one) => one.id === id)!);
          const one = deliver(inThatOrder, now, firstSeen, true).state;
          const two = deliver(judged.toSorted(order), now, firstSeen, true).state;
          expect(one.prices).to.deep.equal(two.prices);
        },
      ),
      { numRuns: sized(200, 2000) },
    );
  });

  it("never serves a price out of line of a lone device", () => {
    fc.assert(
      fc.property(arbPriced, arbFirstSeen, (marks, firstSeen) => {
        // One device alone states it out of line; all others are far from it.
        const lone = marks.map((one, index): Mark => {
          const { prices: _prices, pricesNeeded: _needed, ...rest } = one;
          if (one.reporterId === 1) return { ...rest, ...at(500, out) };
          return index % 2 === 0 ? { ...rest, ...at(60) } : rest;
        });
        const judged = judgedInOrder(lone, now, firstSeen).toSorted(order);
        for (let n = 1; n <= judged.length; n += 1) {
          const { state } = deliver(judged.slice(0, n), now, firstSeen, true);
          expect(state.prices.map(({ price }) => price)).to.not.include(500);
        }
      }),
      { numRuns: sized(100, 1000) },
    );
  });
});
