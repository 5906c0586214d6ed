import { expect } from "chai";
import fc from "fast-check";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { minuteOfWeek, wallMinutes } from "#src/domain/wall-clock.ts";
import { hoursFault, readOpenTimes } from "#src/stations/opening-hours.ts";
import { createSchedules } from "#snapshots/model/schedules.ts";
import {
  hoursAsText,
  isAsWanted,
  isOpenPlainly,
  knownHours,
  type PlainHours,
} from "#test/oracle/hours.ts";

const places = {
  moscow: { lat: 55.75, lon: 37.62 },
  paris: { lat: 48.86, lon: 2.35 },
  kaliningrad: { lat: 54.71, lon: 20.5 },
  kamchatka: { lat: 53.02, lon: 158.65 },
  nepal: { lat: 27.7, lon: 85.32 },
  "Lord Howe": { lat: -31.55, lon: 159.08 },
  samoa: { lat: -13.83, lon: -171.77 },
};
const place = fc.constantFrom(...Object.values(places));
const moment = fc
  .integer({ min: Date.UTC(2024, 0) / minuteMs, max: Date.UTC(2028, 0) / minuteMs })
  .map((minutes) => minutes * minuteMs);
const rule: fc.Arbitrary<PlainHours> = fc
  .record({
    days: fc.subarray([0, 1, 2, 3, 4, 5, 6], { minLength: 1 }),
    from: fc.integer({ min: 0, max: 1439 }),
    length: fc.integer({ min: 1, max: 1439 }),
  })
  .map(({ days, from, length }) => ({ days, from, to: from + length }));

describe("the clock at a station", () => {
  it("is that of its zone, before and after the change of clocks", () => {
    const at = (utc: string, zone: string): string =>
      new Date(wallMinutes(Date.parse(utc), zone) * minuteMs).toISOString().slice(0, 16);
    expect(at("2026-03-29T00:59:59Z", "Europe/Paris")).to.equal("2026-03-29T01:59");
    expect(at("2026-03-29T01:00:00Z", "Europe/Paris")).to.equal("2026-03-29T03:00");
    expect(at("2026-10-25T00:30:00Z", "Europe/Paris")).to.equal("2026-10-25T02:30");
    expect(at("2026-10-25T01:30:00Z", "Europe/Paris")).to.equal("2026-10-25T02:30");
    expect(at("2026-12-31T20:15:00Z", "Asia/Kathmandu")).to.equal("2027-01-01T02:00");
  });

  it("tells the minute of the week from Monday", () => {
    expect(minuteOfWeek(Date.UTC(2026, 10, 23) / minuteMs)).to.equal(0);
    expect(minuteOfWeek(Date.UTC(2026, 10, 29, 23, 59) / minuteMs)).to.equal(7 * 1440 - 1);
    expect(minuteOfWeek(Date.UTC(1969, 11, 31) / minuteMs)).to.equal(2 * 1440);
  });
});

describe("opening hours (decisions 14.20)", () => {
  const zoneBefore = process.env["TZ"];
  afterEach(() => {
    if (zoneBefore === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zoneBefore;
  });

  it("hold on the station's clock, whatever this process's clock is", () => {
    for (const zone of ["UTC", "America/New_York", "Australia/Lord_Howe"]) {
      process.env["TZ"] = zone;
      fc.assert(
        fc.property(
          fc.array(rule, { minLength: 1, maxLength: 3 }),
          place,
          fc.array(moment),
          (rules, at, moments) => {
            const schedules = createSchedules();
            const number = schedules.numberOf(hoursAsText(rules), at);
            for (const now of moments)
              expect(
                schedules.stateAt(number, now) === "open",
                new Date(now).toISOString(),
              ).to.equal(isOpenPlainly(rules, now, at));
          },
        ),
      );
    }
  });

  it("open and close at the minute, across the change of clocks", () => {
    const schedules = createSchedules();
    const number = schedules.numberOf("Mo-Su 06:00-22:00", places.paris);
    const open = (utc: string): boolean => schedules.stateAt(number, Date.parse(utc)) === "open";
    expect([open("2026-03-28T04:59:59.999Z"), open("2026-03-28T05:00:00Z")]).to.deep.equal([
      false,
      true,
    ]);
    expect([open("2026-03-29T03:59:59.999Z"), open("2026-03-29T04:00:00Z")]).to.deep.equal([
      false,
      true,
    ]);
    expect([open("2026-10-25T20:59:59Z"), open("2026-10-25T21:00:00Z")]).to.deep.equal([
      true,
      false,
    ]);
  });

  it("whose weeks differ are read anew each day, holidays of the country included", () => {
    const schedules = createSchedules();
    const text = "Mo-Su 06:00-22:00; PH off";
    const [russian, french] = [places.moscow, places.paris].map((at) =>
      schedules.numberOf(text, at),
    );
    // 4 November is a holiday in Russia, 14 July in France.
    const noon = (number: number | undefined, day: string): boolean =>
      schedules.stateAt(number!, Date.parse(`${day}T10:00:00Z`)) === "open";
    expect([
      noon(russian, "2026-11-03"),
      noon(russian, "2026-11-04"),
      noon(russian, "2026-11-05"),
    ]).to.deep.equal([true, false, true]);
    expect([noon(french, "2026-11-04"), noon(french, "2026-07-14")]).to.deep.equal([true, false]);
    const winter = schedules.numberOf("Oct-Apr Mo-Su 08:00-20:00", places.moscow);
    expect([noon(winter, "2026-04-30"), noon(winter, "2026-05-01")]).to.deep.equal([true, false]);
  });

  it("are unknown where a text cannot be read or asks for more than is known", () => {
    const schedules = createSchedules();
    const unknown = [
      "rubbish",
      "(".repeat(255),
      "SH 08:00-20:00",
      "sunrise-sunset",
      'Mo-Su 00:00-24:00 "by appointment"',
      "Mo-Su 00:00-24:00 unknown",
    ];
    for (const text of unknown) {
      const number = schedules.numberOf(text, places.moscow);
      expect(schedules.stateAt(number, Date.UTC(2026, 10, 26, 9)), text).to.equal("unknown");
    }
    expect(schedules.stateAt(schedules.numberOf("", places.moscow), 0)).to.equal("unknown");
    const visits = schedules.numberOf('Mo-Fr 08:00-18:00 "by appointment"', places.moscow);
    expect(schedules.stateAt(visits, Date.UTC(2026, 10, 28, 9))).to.equal("closed");
    // A country whose holidays the library does not know.
    expect(readOpenTimes("24/7; PH off", { lat: 43.24, lon: 76.9 }, 0)).to.equal(null);
    expect(readOpenTimes("rubbish", places.moscow, 0)).to.equal(null);
  });

  it("are one schedule for all stations of a zone with the same text", () => {
    const schedules = createSchedules();
    const one = schedules.numberOf("Mo-Fr 06:00-22:00", places.moscow);
    expect(schedules.numberOf("Mo-Fr 06:00-22:00", { lat: 59.94, lon: 30.31 })).to.equal(one);
    expect(schedules.numberOf("Mo-Fr 06:00-22:00", places.paris)).not.to.equal(one);
  });

  it("are all read beforehand in turns of their own, and again when another day has come", async () => {
    const schedules = createSchedules();
    const start = Date.parse("2026-11-03T10:00:00Z");
    const texts = [...Object.keys(knownHours), "Mo-Su 06:00-22:00; PH off"].filter(Boolean);
    const numbers = texts.flatMap((text) =>
      Object.values(places).map((at) => schedules.numberOf(text, at)),
    );
    const alone = (number: number, now: number) => {
      const fresh = createSchedules();
      for (const text of texts) for (const at of Object.values(places)) fresh.numberOf(text, at);
      return fresh.stateAt(number, now);
    };
    for (const now of [start, start + 24 * hourMs, start + 48 * hourMs]) {
      await Promise.all([schedules.readAll(now), schedules.readAll(now)]);
      for (const number of numbers)
        expect(schedules.stateAt(number, now)).to.equal(alone(number, now));
    }
  });

  it("agree with what the other tests take their texts to mean", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(knownHours)), place, moment, (text, at, now) => {
        const schedules = createSchedules();
        const state = schedules.stateAt(schedules.numberOf(text, at), now);
        expect([state === "open", state === "closed"]).to.deep.equal([
          isAsWanted(true, text, now, at),
          isAsWanted(false, text, now, at),
        ]);
      }),
    );
  });

  it("say what is wrong with a text that an operator types", () => {
    expect(hoursFault("Mo-Fr 06:00-22:00")).to.equal(null);
    expect(hoursFault("weekdays six to ten")).to.be.a("string");
  });
});
