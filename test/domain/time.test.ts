import { expect } from "chai";
import { formatTime, parseTime } from "#src/domain/time.ts";

const noon = Date.UTC(2026, 0, 31, 12, 0, 5);

describe("times as callers write them", () => {
  for (const text of [
    "2026-01-31 12:00:05",
    "2026-01-31T12:00:05",
    "2026-01-31t12:00:05z",
    "2026-01-31T12:00:05.000Z",
    "2026-01-31T12:00:05,0Z",
    "2026-01-31T15:00:05+03:00",
    "2026-01-31T15:00:05+0300",
    "2026-01-31T15:00:05 03:00",
    "2026-01-31T07:30:05-04:30",
    "2026-01-31T12:00:05-00:00",
  ])
    it(`reads ${text}`, () => expect(parseTime(text)).to.equal(noon));

  it("reads a zone of hours alone, as Postgres writes it", () => {
    expect(parseTime("2026-01-31 12:00:05+00")).to.equal(noon);
    expect(parseTime("2026-01-31 15:00:05.0+03")).to.equal(noon);
    expect(parseTime("2026-01-31 15:00:05 03")).to.equal(noon);
    expect(parseTime("2026-01-31T04:00:05-08")).to.equal(noon);
  });

  it("reads a time without seconds, as Java writes the first second of a minute", () => {
    for (const text of ["2026-01-31T12:00Z", "2026-01-31 12:00", "2026-01-31T15:00+03:00"])
      expect(parseTime(text), text).to.equal(noon - 5000);
    expect(parseTime("2026-01-31T15:00 03:00")).to.equal(noon - 5000);
    expect(parseTime("2026-01-31T12:00-00")).to.equal(noon - 5000);
  });

  it("cuts what is finer than a millisecond", () => {
    expect(parseTime("2026-01-31 12:00:05.9999")).to.equal(noon + 999);
    expect(formatTime(noon + 999)).to.equal("2026-01-31 12:00:05");
  });

  it("reads the first moment of all, which stands for 'never' in other languages", () => {
    const first = parseTime("0001-01-01 00:00:00") as number;
    expect(new Date(first).toISOString()).to.equal("0001-01-01T00:00:00.000Z");
    expect(parseTime("0099-12-31T23:59:59Z")).to.equal(Date.parse("0099-12-31T23:59:59Z"));
  });

  for (const text of [
    "",
    "2026-01-31",
    "2026-01-31 12",
    "2026-01-31 12:00.5",
    "2026-01-31  12:00:05",
    "2026-02-29 12:00:05",
    "2026-13-01 12:00:05",
    "2026-01-31 24:00:00",
    "2026-01-31 23:59:60",
    "2026-01-31 12:00:05+15:00",
    "2026-01-31 12:00:05+03:",
    "2026-01-31 12:00:05+3",
    "2026-01-31 12:00:05 Europe/Berlin",
    "20260131T120005Z",
    "1769860805",
    "0000-01-01 00:00:00",
    "0001-01-01 00:00:00+01:00",
    "now",
  ])
    it(`does not read ${text || "nothing"}`, () => expect(parseTime(text)).to.equal(null));
});
