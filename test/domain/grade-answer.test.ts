import { expect } from "chai";
import fc from "fast-check";
import { chanceText, hoursText } from "#src/contract/driver-texts.ts";
import {
  answerFor,
  chanceOf,
  hasFuel,
  lacks,
  nearestWith,
  priceOf,
  shownChance,
  stationAnswer,
} from "#src/domain/grade-answer.ts";
import { formatTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { distanceM } from "#src/domain/geo.ts";
import { grades, servedStatuses } from "#src/domain/vocabulary.ts";

const grade = fc.constantFrom(...grades);
/** No grade is both there and out. */
const fuel = fc
  .tuple(
    fc.constantFrom(...servedStatuses),
    fc.array(fc.constantFrom("there", "out", "unknown"), { minLength: 5, maxLength: 5 }),
  )
  .map(([status, told]) => {
    const list = (of: string): string => grades.filter((_, n) => told[n] === of).join(",");
    return { status, fuels_now: list("there"), fuels_no: list("out") };
  });

describe("domain: what a station answers about one grade", () => {
  it("is its status without a grade, and never more than its status with one", () => {
    fc.assert(
      fc.property(fuel, grade, (block, wanted) => {
        expect(answerFor(block, null)).to.equal(block.status);
        expect([block.status, "no", "nodata"]).to.include(answerFor(block, wanted));
      }),
    );
  });

  it("means fuel exactly where the grade is told to be there and the station has fuel", () => {
    fc.assert(
      fc.property(fuel, grade, (block, wanted) => {
        const there = block.fuels_now.split(",").includes(wanted);
        expect(hasFuel(answerFor(block, wanted))).to.equal(there && hasFuel(block.status));
      }),
    );
  });

  it("does not take a grade for another that it is part of", () => {
    const block = { status: "yes", fuels_now: "98,100", fuels_no: "92" } as const;
    expect(answerFor(block, "95")).to.equal("nodata");
    expect(answerFor(block, "92")).to.equal("no");
    expect(priceOf("100=80.00,98=70.10", "98")).to.equal("70.10");
    expect(priceOf("100=80.00", "92")).to.equal(null);
    expect(priceOf(undefined, "ДТ")).to.equal(null);
  });
});

describe("domain: the chance of a grade (decisions 23.19)", () => {
  const chance = fc.option(fc.integer({ min: 0, max: 20 }).map((steps) => steps * 5));
  const sold = fc.option(fc.subarray([...grades], { minLength: 1 }), { nil: undefined });

  it("is the station's where the grade is there, 0 where it is out or not sold, else unknown", () => {
    fc.assert(
      fc.property(fuel, chance, sold, grade, (block, known, list, wanted) => {
        const told = known === null ? block : { chance: known, ...block };
        const station = { fuel: told, grades_sold: list?.join() };
        expect(chanceOf(station, null)).to.equal(known);
        const isThere = block.fuels_now.split(",").includes(wanted);
        const isOut = block.fuels_no.split(",").includes(wanted);
        const isMissing = isOut || (list !== undefined && !list.includes(wanted));
        const expected = isThere ? known : isMissing ? 0 : null;
        expect(chanceOf(station, wanted)).to.equal(known === null ? null : expected);
      }),
    );
  });
});

describe("domain: the chance that is shown (decisions 23.20)", () => {
  const now = Date.UTC(2026, 0, 31, 12);
  const station = (minutes: number, more: object = {}) => ({
    fuel: {
      ...{ status: "yes" as const, fuels_now: "95", fuels_no: "98", chance: 30 },
      ...{ updated: formatTime(now - minutes * minuteMs), ...more },
    },
  });

  it("waits until it can have followed a status, and is no 0 of a grade that is out", () => {
    expect(shownChance(station(1), null, now)).to.equal(null);
    expect(shownChance(station(3), null, now)).to.equal(30);
    expect(shownChance(station(3), "95", now)).to.equal(30);
    expect(shownChance(station(3), "98", now)).to.equal(null);
    expect(shownChance(station(3, { chance: 0 }), null, now)).to.equal(0);
    expect(shownChance(station(1, { status: "nodata" }), null, now)).to.equal(30);
    expect(shownChance(station(1, { status: "nodata", updated: "" }), null, now)).to.equal(30);
  });

  it("says in words how sure that is", () => {
    expect(chanceText("en", 70, "95")).to.equal("Likely has 95 (70%)");
    expect(chanceText("en", 65, null)).to.equal("May have fuel (65%)");
    expect(chanceText("en", 25, null)).to.equal("Unlikely to have fuel (25%)");
    expect(chanceText("ru", 85, "95")).to.equal("Скорее всего есть 95 (85\u00a0%)");
    expect(chanceText("ru", 30, null)).to.equal("Возможно, есть топливо (30\u00a0%)");
    expect(chanceText("ru", 0, null)).to.equal("Вряд ли есть топливо (0\u00a0%)");
  });
});

describe("domain: a grade that a station does not sell (decisions 14.22)", () => {
  const sold = fc.option(fc.subarray([...grades], { minLength: 1 }), { nil: undefined });

  it("is not out there, whatever drivers miss, unless one has seen it", () => {
    fc.assert(
      fc.property(fuel, grade, sold, (block, wanted, grades_sold) => {
        const station = { fuel: block, grades_sold: grades_sold?.join() };
        const isThere = block.fuels_now.split(",").includes(wanted);
        const isLacking = grades_sold?.includes(wanted) === false && !isThere;
        expect(lacks(station, wanted)).to.equal(isLacking);
        expect(stationAnswer(station, wanted)).to.equal(
          isLacking ? "nodata" : answerFor(block, wanted),
        );
        expect(stationAnswer(station, null)).to.equal(block.status);
      }),
    );
  });
});

describe("opening hours in the words of drivers", () => {
  it("are the text of OSM, in Russian with its days", () => {
    const text = "Mo-Fr 06:00-22:00; PH off";
    expect(hoursText("en", text)).to.equal(text);
    expect(hoursText("ru", text)).to.equal("пн-пт 06:00-22:00; праздники закрыто");
    expect(hoursText("ru", '24/7 "Mo too"')).to.equal('24/7 "Mo too"');
    expect([hoursText("en", "24/7"), hoursText("ru", "24/7")]).to.deep.equal([
      ...["Open 24 hours", "Круглосуточно"],
    ]);
  });
});

describe("domain: the nearest with a grade", () => {
  const station = fc.record({
    lat: fc.double({ min: 54, max: 56, noNaN: true }),
    lon: fc.double({ min: 36, max: 38, noNaN: true }),
    fuel,
  });

  it("are all of the radius that have it, and no others, the nearest first", () => {
    const from = { lat: 55, lon: 37 };
    fc.assert(
      fc.property(fc.array(station), grade, (stations, wanted) => {
        const found = nearestWith(stations, { from, radiusM: 60_000, grade: wanted });
        const fits = stations.filter(
          (one) => distanceM(from, one) <= 60_000 && hasFuel(answerFor(one.fuel, wanted)),
        );
        expect(found.map((one) => one.station)).to.have.members(fits);
        const distances = found.map(({ distance }) => distance);
        expect(distances).to.deep.equal([...distances].sort((a, b) => a - b));
      }),
    );
  });
});
