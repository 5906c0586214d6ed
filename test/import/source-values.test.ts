import { expect } from "chai";
import fc from "fast-check";
import { matches, numberFrom, textFrom, valueAt } from "#src/import/source-values.ts";

const word = fc.stringMatching(/^[A-Za-zÀ-ÿА-я]{1,12}$/);
const degrees = fc.integer({ min: -180_000_000, max: 180_000_000 }).map((n) => n / 1e6);

describe("values of a source's records", () => {
  it("are found by their name, also with dots in it, else along dots", () => {
    const record = { "C.P.": "1", a: { "@b": 2, c: [{ d: 3 }, { d: 4 }] }, e: null };
    expect(
      ["C.P.", "a.@b", "a.c.d", "a.c.1.d", "e.f", "g.h"].map((path) => valueAt(record, path)),
    ).to.deep.equal([...["1", 2, [3, 4], 4, undefined, undefined]]);
    fc.assert(
      fc.property(word, word, fc.string(), (a, b, text) => {
        expect(textFrom({ [a]: { [b]: text } }, `${a}.${b}`)).to.equal(text.trim());
      }),
    );
    // A name that every object has is no column.
    expect(textFrom({}, "constructor.name")).to.equal("");
  });

  it("are the first of several that is not empty, a constant, or a template without its empty parts", () => {
    expect(textFrom({ a: " ", b: "x" }, { from: ["a", "b"] })).to.equal("x");
    expect(textFrom({}, { constant: "Eni" })).to.equal("Eni");
    const template = "{street} {number}, {town}, Italia";
    expect(textFrom({ street: "Via Po", number: 5, town: "Roma" }, { template })).to.equal(
      "Via Po 5, Roma, Italia",
    );
    expect(textFrom({ street: "Via Po" }, { template })).to.equal("Via Po, Italia");
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(textFrom({ a, b }, { template: "{a}, {b}" })).to.equal(`${a}, ${b}`);
      }),
    );
  });

  it("are numbers with a decimal point or comma and a scale, exactly, and nothing else", () => {
    fc.assert(
      fc.property(degrees, (value) => {
        const plain = value.toFixed(6);
        expect(numberFrom({ a: plain }, "a")).to.equal(Number(plain));
        expect(numberFrom({ a: plain.replace(".", ",") }, { from: "a", decimal: "," })).to.equal(
          Number(plain),
        );
        const large = Math.round(value * 1e5);
        expect(numberFrom({ a: String(large) }, { from: "a", scale: 0.00001 })).to.equal(
          large / 1e5,
        );
      }),
    );
    const none = ["", "NaN", "Infinity", "1.5.2", "45° N", "x", "0x10", "1 2"];
    for (const text of none) expect(numberFrom({ a: text }, "a"), text).to.equal(null);
    expect(numberFrom({ a: 1.5 }, "a")).to.equal(1.5);
  });

  it("are a part between separators, other words for the whole, or for each word", () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), fc.nat(6), (parts, take) => {
        const text = textFrom({ a: parts.join(" - ") }, { from: "a", split: { by: " - ", take } });
        expect(text).to.equal(parts[take] ?? "");
      }),
    );
    const lookup = { "Pompe Bianche": "", "1": "24/7" };
    expect(textFrom({ a: "Pompe Bianche" }, { from: "a", lookup })).to.equal("");
    expect(textFrom({ a: "Q8" }, { from: "a", lookup })).to.equal("Q8");
    expect(textFrom({ a: "Q8" }, { from: "a", lookup, otherwise: "" })).to.equal("");
    expect(textFrom({ a: "toString" }, { from: "a", lookup })).to.equal("toString");
    const words = { L: "Mo", V: "Fr", "L-D": "daily" };
    expect(textFrom({ a: "L-V: 06:00; VL; L-D" }, { from: "a", words })).to.equal(
      "Mo-Fr: 06:00; VL; daily",
    );
  });

  it("are parts of an address that is written in one text", () => {
    const of = (text: string): string[] =>
      (["street", "number", "postcode", "town"] as const).map((part) =>
        textFrom({ a: text }, { from: "a", part }),
      );
    expect(of("Via Roma 5, 00100 Roma")).to.deep.equal(["Via Roma", "5", "00100", "Roma"]);
    expect(of("Via Roma, 5/B, 00100 Roma")).to.deep.equal(["Via Roma", "5/B", "00100", "Roma"]);
    expect(of("12 bis rue de Paris, 75001 Paris")).to.deep.equal([
      "rue de Paris",
      "12 bis",
      "75001",
      "Paris",
    ]);
    expect(of("GATE LANE, SUTTON, B73 5TT")).to.deep.equal(["GATE LANE", "", "B73 5TT", "SUTTON"]);
    expect(of("Hauptstr. 3a, 80999 München")).to.deep.equal([
      "Hauptstr.",
      "3a",
      "80999",
      "München",
    ]);
    expect(of("Strada provinciale")).to.deep.equal(["Strada provinciale", "", "", ""]);
    fc.assert(
      fc.property(word, fc.integer({ min: 1, max: 999 }), word, (street, number, town) => {
        expect(of(`${street} ${number}, ${town}`)).to.deep.equal([
          street,
          String(number),
          "",
          town,
        ]);
      }),
    );
  });

  it("match a pattern regardless of case and spaces, and no letter of it is special but the star", () => {
    expect(matches("*Diesel*", "Hi-Q  DIESEL")).to.equal(true);
    expect(matches("Benzina", "Benzina speciale")).to.equal(false);
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const plain = a.replaceAll("*", "").trim();
        expect(matches(plain, a.replaceAll("*", ""))).to.equal(true);
        expect(matches(`${plain}*`, `${plain}${b.trim()}`)).to.equal(true);
      }),
    );
  });
});
