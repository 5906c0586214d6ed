import { expect } from "chai";
import fc from "fast-check";
import { foldText } from "#src/contract/fold-text.ts";

/** Apostrophes that count as letters become plain ones. */
const isLetter = (one: string): boolean => /(?![ʼʻ])\p{L}/u.test(one);

describe("folded text", () => {
  for (const [typed, name] of [
    ["Lodz", "Łódź"],
    ["TROMSO", "Tromsø"],
    ["giessen", "Gießen"],
    ["GIESSEN", "GIEẞEN"],
    ["Koln", "Köln"],
    ["Dakovo", "Đakovo"],
    ["Reykjavik", "Reykjavík"],
    ["Isafjordur", "Ísafjörður"],
    ["thorshofn", "Þórshöfn"],
    ["aeroskobing", "Ærøskøbing"],
    ["istanbul", "İSTANBUL"],
    ["Diyarbakir", "Diyarbakır"],
    ["ΑΘΗΝΑ", "Αθήνα"],
    ["ΠΕΙΡΑΙΑΣ", "πειραιασ"],
    ["Щелково", "ЩЁЛКОВО"],
    ["Bauchi", "Ɓauchi"],
    ["Nuku'alofa", "Nukuʻalofa"],
    ["Кам'янець", "Кам’янець"],
    ["ԵՐԵՎԱՆ", "Երևան"],
  ])
    it(`of "${name}" is that of "${typed}"`, () =>
      expect(foldText(name!)).to.equal(foldText(typed!)));

  it("drops no letter of any alphabet, and is its own folded text", () => {
    const letters = fc.array(
      fc.integer({ min: 0, max: 0x2ffff }).map((code) => String.fromCodePoint(code)),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(letters, (some) => {
        const text = some.filter(isLetter).join("");
        const folded = foldText(text);
        const count = (of: string): number => of.normalize("NFC").match(/\p{L}/gu)?.length ?? 0;
        expect(count(folded)).to.be.at.least(count(text));
        expect(foldText(folded)).to.equal(folded);
      }),
      { numRuns: 3000 },
    );
    for (let code = 0x41; code < 0x2000; code += 1) {
      const letter = String.fromCodePoint(code);
      if (isLetter(letter)) expect(foldText(letter), letter).to.match(/\p{L}/u);
    }
  });

  it("keeps the vowel signs that other alphabets write as marks", () => {
    expect(foldText("कि")).to.not.equal(foldText("का"));
    expect(foldText("Бийск")).to.equal("бийск");
  });
});
