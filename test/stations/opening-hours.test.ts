import { expect } from "chai";
import fc from "fast-check";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { minuteOfWeek, wallMinutes, zoneAheadMs } from "#src/domain/wall-clock.ts";
import { hoursFault, readOpenTimes } from "#src/stations/opening-hours.ts";
import { zoneOf } from "#src/stations/territories.ts";
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
      new Date(wallMinutes(Date.parse(utc), zone)! * minuteMs).toISOString().slice(0, 16);
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
    expect(readOpenTimes("rubbish", places.moscow, 0)).to.equal(null);
  });

  it("are unknown all week where the library only guesses, and refused when they are typed", () => {
    const guessed = `Mo-Fr 06:00-21:00 Sa 07:00-12:00|Mo-Fr 06:00-20:00; Sa,Su|Mo-Fr|Mo-Fr;08:00-20:00|Mo-Fr 8-12 13-20
      |Pon do Pet 7:30 - 19:00 Sob 8:00 - 12:00|Pon-Sob; 6-22h Su: 9-19h|Lun-Ven 08:00-20:00|L-V 06:00-22:00|Di-Do 06:00-22:00
      |Пн-Пт 08:00-20:00|weekdays 06:00-22:00|Mo_Fr 08:00-20:00|Mo-Fr 08:00~20:00|Mo-Su 7:00-1:00|8-5|Mo-Fr 1-5 pm|Mo-Fr 24/7
      |24/7 Mo-Fr|7/7|Mo-Fr 06:00-22:00 PH off|Mo Tu We 08:00-20:00|09:30-21:00; 21:30-09:00|1.6.-31.8. 08:00-22:00
      |6am-6am|12 am - 12 am|Mo-Fr 8-8|Mo-Fr 8:3-19:30`;
    const schedules = createSchedules();
    for (const text of guessed.split("|").map((one) => one.trim())) {
      expect(hoursFault(text), text).to.be.a("string");
      const number = schedules.numberOf(text, places.moscow);
      for (let hour = 0; hour < 7 * 24; hour += 5)
        expect(schedules.stateAt(number, hour * hourMs), text).to.equal("unknown");
    }
  });

  it("are read where only the spelling is unusual", () => {
    const spellings: [unusual: string, usual: string][] = [
      ["Mo–Fr 8.00–20.00", "Mo-Fr 08:00-20:00"],
      ["MO - FR: 8-20h;", "Mo-Fr 08:00-20:00"],
      ["Monday to Friday 8am-8pm", "Mo-Fr 08:00-20:00"],
      ["daily 24 hours", "Mo-Su 00:00-24:00"],
      ["24/7; Su off", "Mo-Sa 00:00-24:00"],
      ["Mo-Su 08:00-20:00, Su off", "Mo-Sa 08:00-20:00"],
      ["2020+ Mo-Fr 08:00-20:00", "Mo-Fr 08:00-20:00"],
      ["weekends 22:00-06:00", "Sa,Su 22:00-06:00"],
    ];
    fc.assert(
      fc.property(fc.constantFrom(...spellings), place, moment, ([unusual, usual], at, now) => {
        const schedules = createSchedules();
        const [one, other] = [unusual, usual].map((text) =>
          schedules.stateAt(schedules.numberOf(text, at), now),
        );
        expect(one).to.equal(other).and.not.equal("unknown");
      }),
    );
  });

  it("end with an unknown time where the end is open, or the next day's rule cuts a night off", () => {
    const schedules = createSchedules();
    const states = (text: string, ...utc: string[]) =>
      utc.map((time) =>
        schedules.stateAt(schedules.numberOf(text, places.moscow), Date.parse(`2026-11-${time}Z`)),
      );
    // 27 November is a Friday; Moscow is three hours ahead.
    expect(
      states("08:00-20:00+", "27T16:59", "27T17:00", "27T21:30", "28T04:59", "28T05:00"),
    ).to.deep.equal(["open", "unknown", "unknown", "unknown", "open"]);
    expect(states("06:00+", "27T22:00")).to.deep.equal(["unknown"]);
    for (const rule of ["; Sa,Su 10:00-12:00", "; Sa off"])
      expect(
        states(`Fr 20:00-04:00${rule}`, "27T20:59", "27T21:00", "28T00:59", "28T01:00"),
        rule,
      ).to.deep.equal(["open", "unknown", "unknown", "closed"]);
    expect(states("Fr 20:00-04:00, Sa,Su 10:00-12:00", "28T00:59")).to.deep.equal(["open"]);
    expect(states("24/7; Sa off", "27T20:59", "27T21:00")).to.deep.equal(["open", "closed"]);
    // The night of a day whose hours a later rule has replaced.
    expect(
      states("Mo-Su 06:00-02:00; Su 10:00-14:00", "29T20:59", "29T21:00", "29T22:59", "29T23:00"),
    ).to.deep.equal(["closed", "unknown", "unknown", "closed"]);
    // A text that only says when it is closed does not say when it is open.
    for (const text of ["Sa off", 'Sa closed "holiday"', "Nov 28 off; PH off"])
      expect(states(text, "27T09:00", "28T09:00"), text).to.deep.equal(["unknown", "closed"]);
    expect(states("off", "27T09:00")).to.deep.equal(["closed"]);
  });

  it("are unknown where a rule replaces one that says more, and once all their years are over", () => {
    const schedules = createSchedules();
    for (const [text, ...expected] of [
      // Moscow is three hours ahead; 4 November is a holiday, a Wednesday; the 27th a Friday.
      ["Su off; 06:00-22:00", "29T09 unknown", "28T09 open", "29T20 closed"],
      ["Nov 27 off; Mo-Su 08:00-20:00", "27T09 unknown", "28T09 open", "27T20 closed"],
      ["Mo-Fr 06:00-14:00; Mo-Fr 15:00-22:00", "27T06 unknown", "27T13 open", "28T09 closed"],
      ["Fr 06:00-12:00; Mo 08:00-20:00; Fr 13:00-18:00", "27T06 unknown", "27T12 open"],
      ["PH off; Mo-Fr 08:00-20:00", "04T09 unknown", "05T09 open"],
      ["Su,PH off; Mo-Sa 08:00-20:00", "04T09 unknown", "05T09 open", "29T09 closed"],
      ["Mo-Sa 08:00-20:00; Su,PH off", "04T09 closed", "05T09 open", "29T09 closed"],
      ["Mo-Su 06:00-22:00; Su 10:00-18:00", "29T05 closed", "29T09 open", "28T04 open"],
      ["Mo-Su 06:00-22:00; Mo-Su 12:00-13:00 off", "27T09 closed", "27T11 open"],
      ["Mar-Oct 06:00-22:00; Nov-Feb 08:00-20:00", "27T04 closed", "27T06 open"],
      ["2020-2024 Mo-Fr 08:00-20:00", "27T09 unknown", "28T09 unknown"],
      ["08:00-20:00; 2024 Dec 25 off", "27T09 open", "27T20 closed"],
    ] as const)
      for (const one of expected) {
        const [time, state] = one.split(" ");
        const at = Date.parse(`2026-11-${time}:00Z`);
        const number = schedules.numberOf(text, places.moscow);
        expect(schedules.stateAt(number, at), `${text} ${time}`).to.equal(state);
      }
    const began = performance.now();
    readOpenTimes(`${"Saturday,".repeat(26)}PH off; 08:00-20:00`, places.moscow, 0);
    expect(performance.now() - began).to.be.below(5000);
  });

  it("are unknown in a zone that this runtime does not know, which is told once, and there alone", () => {
    const told: string[] = [];
    const zoneAt = ({ lat }: { lat: number }): string =>
      lat < 0 ? "America/Nowhere" : "Europe/Moscow";
    const schedules = createSchedules((zone) => told.push(zone), zoneAt);
    const [there, here] = [places.samoa, places.moscow].map((at) =>
      schedules.numberOf("Mo-Su 00:00-24:00", at),
    );
    for (const now of [0, hourMs, 24 * hourMs]) {
      expect(schedules.stateAt(there!, now)).to.equal("unknown");
      expect(schedules.stateAt(here!, now)).to.equal("open");
    }
    expect(told).to.deep.equal(["America/Nowhere"]);
    expect(zoneAheadMs(0, "America/Nowhere")).to.equal(0);
    expect(zoneOf({ lat: Number.NaN, lon: 1000 })).to.equal("");
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

  it("takes the usual texts for certain without the library, which does so too", () => {
    const from = fc.subarray(["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"], { minLength: 1 });
    const days = from.map((some) => some.slice(0, 2).join("-"));
    const two = (min: number, max: number) =>
      fc.integer({ min, max }).map((n) => String(n).padStart(2, "0"));
    const times = fc
      .tuple(two(1, 19), two(0, 59), two(20, 23), two(0, 59))
      .map(([a, b, c, d]) => `${a}:${b}-${c}:${d}`);
    const first = fc.tuple(fc.array(days, { minLength: 1, maxLength: 3 }), times);
    const later = fc.array(fc.tuple(days, fc.oneof(times, fc.constant("off"))), { maxLength: 2 });
    fc.assert(
      fc.property(first, later, ([some, open], more) => {
        const text = [[some.join(), open], ...more].map((one) => one.join(" ")).join("; ");
        expect(hoursFault(text), text).to.equal(null);
        // With a blank more the library is asked.
        expect(hoursFault(`${text} `), text).to.equal(null);
      }),
    );
  });

  it("say what is wrong with a text that an operator types", () => {
    expect(hoursFault("Mo-Fr 06:00-22:00")).to.equal(null);
    expect(hoursFault("weekdays six to ten")).to.be.a("string");
  });
});
