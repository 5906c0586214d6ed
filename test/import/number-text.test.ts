import { expect } from "chai";
import fc from "fast-check";
import { isSold, readNumber } from "#src/import/number-text.ts";
import { numberFrom } from "#src/import/source-values.ts";

describe("numbers as registers write them", () => {
  it("are read in the spelling of any country, whatever its signs", () => {
    const locales = [
      "en-US",
      "de-DE",
      "fr-FR",
      "de-CH",
      "en-IN",
      "pl-PL",
      "sv-SE",
      "ar-EG",
      "fa-IR",
      ...["hi-IN-u-nu-deva", "bn-BD", "th-TH-u-nu-thai"],
    ];
    const formats = locales.map(
      (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }),
    );
    const cents = fc.integer({ min: -2_000_000_000, max: 2_000_000_000 });
    fc.assert(
      fc.property(fc.constantFrom(...formats), cents, (format, n) => {
        // Marks of the direction of writing are no part of a number in a file.
        const text = format.format(n / 100).replace(/[\u061c\u200e\u200f]/g, "");
        const isLone = /^\D?\d{1,3}[.,]\d{3}$/.test(text);
        expect(readNumber(text), text).to.equal(isLone ? n / 100 / 1000 : n / 100);
      }),
      {
        examples: [
          [formats[1]!, 154_800],
          [formats[2]!, 123_456_789],
        ],
      },
    );
    for (const [text, number] of [
      ["1.548,00", 1548],
      ["1,234.50", 1234.5],
      ["1\u00a0548,00", 1548],
      ["1\u202f548,00", 1548],
      ["1’548.50", 1548.5],
      ["1,23,456.78", 123_456.78],
      ["１５４８，５", 1548.5],
      ["−33,45°", -33.45],
    ] as const)
      expect(readNumber(text), text).to.equal(number);
  });

  it("are none where two readings are left, or a word, a range, a time or a footnote stands", () => {
    const none = [
      "1.54.8",
      "1,5,8",
      "1.234.5678",
      "12 5",
      "1.5/1.6",
      "1.5 - 1.6",
      "2026-11-28",
      "10:30",
      "1.50²",
      "1e999",
      "5 N",
    ];
    for (const text of none) expect(readNumber(text), text).to.equal(null);
    fc.assert(fc.property(fc.string(), (text) => Number.isFinite(readNumber(text) ?? 0)));
  });

  it("are degrees with a comma too, and are unclear where thousands are possible", () => {
    expect(numberFrom({ a: "45,123" }, "a")).to.equal(45.123);
    expect(numberFrom({ a: "45,123" }, { from: "a", scale: 0.01 })).to.equal(null);
    expect(numberFrom({ a: "45,123" }, { from: "a", scale: 10, decimal: "," })).to.equal(451.23);
    expect(numberFrom({ a: "4.620.100" }, { from: "a", scale: 0.00001 })).to.equal(46.201);
  });

  it("say that a fuel is sold, is not, or that nothing is known", () => {
    const prices = [
      "$ 1548",
      "1548 CLP/L",
      "€1.799",
      "1.799 €",
      "1,799",
      "US$1.50",
      "Rs. 96,72",
      "zł 6,50",
      "6,50 zł/l",
      "CLP1548",
      "45,-",
      "5,",
      "S/ 15.49",
      "Q32.99",
      "￥１５８",
      "999",
      ...["9.99", "99,9 ¢", "६.४९", "๓๖.๔๕ บาท"],
    ];
    for (const text of [...prices, "Y", "да", "TRUE", "1", "n/a;1.5"])
      expect(isSold(text), text).to.equal(true);
    for (const text of ["", "0", "0,000", "$ 0.00", "no", "N", "нет", "false"])
      expect(isSold(text), text).to.equal(false);
    const unclear = [
      "-",
      "n/a",
      "N/D",
      "9999",
      "999.9",
      "99.99",
      "0.01",
      "-1",
      "−1,5",
      "agotado",
      "1.5 - 1.6",
      "E10",
      "no;-",
    ];
    for (const text of unclear) expect(isSold(text), text).to.equal(null);
  });
});
