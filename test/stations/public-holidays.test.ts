import { createRequire } from "node:module";
import { expect } from "chai";
import fc from "fast-check";
import type { opening_hours } from "opening_hours";
import { dayMs, minuteMs } from "#src/domain/units.ts";
import { type OpenTimes, readOpenTimes } from "#src/stations/opening-hours.ts";
import { isHoliday } from "#src/stations/public-holidays.ts";
import { territoriesOf } from "#src/stations/territories.ts";

const places = {
  almaty: { lat: 43.24, lon: 76.9 },
  beijing: { lat: 39.9, lon: 116.4 },
  berlin: { lat: 52.52, lon: 13.4 },
  belfast: { lat: 54.6, lon: -5.93 },
  edinburgh: { lat: 55.95, lon: -3.19 },
  guernsey: { lat: 49.45, lon: -2.55 },
  "hong kong": { lat: 22.3, lon: 114.17 },
  london: { lat: 51.5, lon: -0.12 },
  madeira: { lat: 32.65, lon: -16.9 },
  mainz: { lat: 50, lon: 8.27 },
  minsk: { lat: 53.9, lon: 27.56 },
  munich: { lat: 48.13, lon: 11.57 },
  "puerto rico": { lat: 18.4, lon: -66.1 },
  réunion: { lat: -21.1, lon: 55.5 },
  rome: { lat: 41.9, lon: 12.5 },
  sea: { lat: -40, lon: -140 },
  tenerife: { lat: 28.3, lon: -16.5 },
  tórshavn: { lat: 62, lon: -6.8 },
};
type Place = keyof typeof places;
const on = (place: Place, day: string): boolean | null => {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  return isHoliday(places[place], new Date(year, month - 1, date));
};
const stateAt = ({ open, unsure }: OpenTimes, minute: number): string => {
  const isIn = (spans: Uint16Array): boolean =>
    spans.filter((end) => end <= minute).length % 2 === 1;
  return isIn(open) ? "open" : isIn(unsure) ? "unknown" : "closed";
};

describe("the lands of a point (decisions 14.50)", () => {
  it("are its territory or nation first, then its country", () => {
    const expected: [Place, string][] = [
      ["hong kong", "HK,CN"],
      ["réunion", "RE,FR"],
      ["puerto rico", "PR,US"],
      ["guernsey", "GG,GB"],
      ["tórshavn", "FO,DK"],
      ["edinburgh", "GB-SCT,GB"],
      ["munich", "DE-BY,DE"],
      // Hesse is across the river.
      ["mainz", "DE"],
      ["tenerife", "ES"],
      ["madeira", "PT"],
      ["rome", "IT"],
      ["sea", ""],
    ];
    for (const [place, lands] of expected)
      expect(territoriesOf(places[place]).join(), place).to.equal(lands);
  });
});

describe("public holidays (decisions 14.51)", () => {
  it("are those of the territory, nation or country, and unknown where nobody can tell", () => {
    const expected: [Place, string, boolean | null][] = [
      // St Andrew's Day, and the second of January.
      ["edinburgh", "2026-11-30", true],
      ["london", "2026-11-30", false],
      ["edinburgh", "2026-01-02", true],
      ["belfast", "2026-03-17", true],
      ["london", "2026-03-17", false],
      // Its own liberation day, the country's table beside it.
      ["guernsey", "2026-05-09", true],
      ["london", "2026-05-09", false],
      ["réunion", "2026-12-20", true],
      ["puerto rico", "2026-01-06", true],
      // No table of its own: neither China's nor Denmark's counts.
      ["hong kong", "2026-10-01", null],
      ["tórshavn", "2026-01-01", null],
      ["almaty", "2026-03-10", null],
      ["sea", "2026-01-01", null],
      ["munich", "2026-01-06", true],
      ["berlin", "2026-01-06", false],
      ["berlin", "2026-03-08", true],
      // Between two states: everywhere, in one of all, nowhere.
      ["mainz", "2026-10-03", true],
      ["mainz", "2026-01-06", null],
      ["mainz", "2026-01-07", false],
      // The library's table is wrong on some days only.
      ["beijing", "2026-02-17", null],
      ["beijing", "2026-10-01", true],
      ["beijing", "2026-03-10", false],
      ["minsk", "2026-01-07", null],
      ["minsk", "2026-07-03", true],
      ["minsk", "2026-01-08", false],
    ];
    for (const [place, day, is] of expected) expect(on(place, day), `${place} ${day}`).to.equal(is);
  });

  it("leave hours unknown on those days only on which a rule of theirs would change them", () => {
    const noon = (text: string, place: Place, day: string): string =>
      stateAt(readOpenTimes(text, places[place], Date.parse(day) / minuteMs)!, 720);
    const text = "Mo-Fr 08:00-20:00; PH off";
    // A Wednesday and a Sunday, in a country without a table.
    expect(noon(text, "almaty", "2026-03-11")).to.equal("unknown");
    expect(noon(text, "almaty", "2026-03-15")).to.equal("closed");
    expect(noon("Mo-Su,PH 06:00-22:00", "almaty", "2026-03-11")).to.equal("open");
    expect(noon(text, "mainz", "2026-01-06")).to.equal("unknown");
    expect(noon(text, "munich", "2026-01-06")).to.equal("closed");
    expect(noon(text, "berlin", "2026-01-06")).to.equal("open");
    expect(noon(text, "beijing", "2026-02-17")).to.equal("unknown");
    expect(noon(text, "edinburgh", "2026-11-30")).to.equal("closed");
    expect(noon(text, "london", "2026-11-30")).to.equal("open");
  });

  it("are read as the library reads them, where its table is known", () => {
    const Class = createRequire(import.meta.url)("opening_hours") as typeof opening_hours;
    const there = { ...places.rome, address: { country_code: "it", state: "" } };
    const texts = [
      "Mo-Fr 08:00-20:00; PH off",
      "24/7; PH off",
      "Mo-Su,PH 06:00-22:00",
      "PH,Su 09:00-12:00",
      "Mo-Sa 08:00-20:00; Su,PH 10:00-02:00",
      "Mo-Su 06:00-22:00; PH 08:00-12:00,14:00-18:00",
      "Apr-Oct 06:00-22:00; Nov-Mar 08:00-20:00; Dec PH closed",
      "Mo-Fr 08:00-18:00 || PH 10:00-12:00",
      'Mo-Fr 08:00-20:00; PH "ask"',
    ];
    const day = fc.integer({ min: 0, max: 730 });
    const minute = fc.integer({ min: 0, max: 1439 });
    fc.assert(
      fc.property(fc.constantFrom(...texts), day, minute, (text, n, at) => {
        const start = Date.UTC(2026, 0, 1) + n * dayMs;
        const times = readOpenTimes(text, places.rome, start / minuteMs)!;
        const date = new Date(2026, 0, 1 + n, 0, at);
        const library = new Class(text, there);
        const wanted = library.getUnknown(date)
          ? "unknown"
          : library.getState(date)
            ? "open"
            : "closed";
        expect(stateAt(times, at), `${text} ${date.toString()}`).to.equal(wanted);
      }),
    );
  });
});
