import { expect } from "chai";
import { parseParams } from "#web/widget/params.ts";

// Every parameter of docs/contract.md 4.11.
const of = (search: string, framed = true) => parseParams(search, framed).params;
const warningsOf = (search: string) => parseParams(search, true).warnings;

describe("web: the map's parameters", () => {
  it("has a default for each", () => {
    expect(parseParams("", true)).to.deep.equal({
      params: {
        key: "",
        city: "",
        station: "",
        point: null,
        theme: "auto",
        fuel: null,
        showFilter: true,
        showSearch: true,
        themeLocked: false,
        gestures: "cooperative",
        language: null,
        accent: null,
      },
      warnings: [],
    });
  });

  it("understands all of them", () => {
    const search =
      "?key=pk_live_1&city=%D0%9E%D0%BC%D1%81%D0%BA&lat=55.5&lon=-37&zoom=9.5&theme=dark&fuel=%D0%94%D0%A2&nofilter=1&nosearch=1&themelock=1&gestures=greedy&lang=RU&accent=%23C0FFEE&station=n1003";
    expect(parseParams(search, true)).to.deep.equal({
      params: {
        key: "pk_live_1",
        city: "Омск",
        station: "n1003",
        point: { lat: 55.5, lon: -37, zoom: 9.5 },
        theme: "dark",
        fuel: "ДТ",
        showFilter: false,
        showSearch: false,
        themeLocked: true,
        gestures: "greedy",
        language: "ru",
        accent: "c0ffee",
      },
      warnings: [],
    });
  });

  it("opens a point at zoom 12 unless told otherwise", () => {
    expect(of("?lat=1&lon=2").point).to.deep.equal({ lat: 1, lon: 2, zoom: 12 });
  });

  it("shares gestures with the page around it in an iframe, and takes them all elsewhere", () => {
    expect(of("", true).gestures).to.equal("cooperative");
    expect(of("", false).gestures).to.equal("greedy");
    expect(of("?gestures=cooperative", false).gestures).to.equal("cooperative");
  });

  for (const [grade, name] of [
    ["92", "92"],
    ["95", "95"],
    ["98", "98"],
    ["100", "100"],
    ["ДТ", "ДТ"],
    ["ДТ", "dt"],
    ["ДТ", "дизель"],
  ] as const) {
    it(`switches the filter for ${name} on`, () => {
      expect(of(`?fuel=${encodeURIComponent(name)}`).fuel).to.equal(grade);
    });
  }

  for (const search of [
    "?theme=blue",
    "?station=..%2Fx",
    "?fuel=93",
    "?lat=91&lon=1",
    "?lat=x&lon=1",
    "?lat=1",
    "?lon=1",
    "?zoom=99",
    "?gestures=wild",
    "?nofilter=yes",
    "?nosearch=true",
    "?themelock=on",
    `?city=${"x".repeat(121)}`,
  ]) {
    it(`falls back to the default, with a warning, from ${search.slice(0, 20)}`, () => {
      expect(of(search)).to.deep.equal(of(""));
      expect(warningsOf(search)).to.have.length(1);
    });
  }

  it("knows nothing of parameters that it does not know", () => {
    expect(warningsOf("?utm_source=mail&key=a")).to.deep.equal([]);
  });
});
