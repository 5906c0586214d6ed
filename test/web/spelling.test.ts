import { expect } from "chai";
import fc from "fast-check";
import { corrected, fitOf, soundOf } from "#web/widget/spelling.ts";

const brands = [
  "Лукойл",
  "Газпромнефть",
  "Газпром",
  "Роснефть",
  "Татнефть",
  "Башнефть",
  "Shell",
  "Teboil",
];
const letters = [..."абвгдежзиклмнопрстуфхцчшыэюя"];

describe("web: the search's spelling", () => {
  it("takes Latin letters for Cyrillic ones, and the other way round", () => {
    for (const [typed, known] of [
      ["lukoil", "Лукойл"],
      ["Lukoyl", "Лукойл"],
      ["gazprom", "Газпром"],
      ["gazpromneft", "Газпромнефть"],
      ["rosneft", "Роснефть"],
      ["шелл", "Shell"],
      ["тебойл", "Teboil"],
      ["novosib", "Новосибирск"],
      ["tyumen", "Тюмень"],
      ["habarovsk", "Хабаровск"],
      ["khabarovsk", "Хабаровск"],
      ["schelkovo", "Щёлково"],
      ["нижний нов", "Нижний Новгород"],
    ])
      expect(fitOf(typed!, known!), `${typed} ${known}`).to.equal(0);
    expect(corrected("lukoil ленина", brands)).to.equal("Лукойл ленина");
    expect(corrected("Лукойл", brands)).to.equal(null);
    expect(corrected("совсем другое", brands)).to.equal(null);
    expect(soundOf("«Ё-моё!»")).to.equal("emoe");
    expect(fitOf("!?", "Лукойл")).to.equal(null);
  });

  it("forgives one typo of any kind in a word of five letters or more", () => {
    const typo = fc.record({
      word: fc.constantFrom("Лукойл", "Газпром", "Роснефть", "Татнефть", "Новосибирск"),
      kind: fc.constantFrom("wrong", "missing", "more", "swapped"),
      at: fc.nat({ max: 20 }),
      letter: fc.constantFrom(...letters),
    });
    fc.assert(
      fc.property(typo, ({ word, kind, at, letter }) => {
        const signs = [...word.toLowerCase()];
        const i = at % (signs.length - 1);
        if (kind === "wrong") signs[i] = letter;
        else if (kind === "missing") signs.splice(i, 1);
        else if (kind === "more") signs.splice(i, 0, letter);
        else [signs[i], signs[i + 1]] = [signs[i + 1]!, signs[i]!];
        const typed = signs.join("");
        // Those that are two in Latin letters would be two typos.
        fc.pre(!/[жчшщюя]/.test(letter) || kind === "missing" || kind === "swapped");
        expect(fitOf(typed, word), typed).to.not.equal(null);
      }),
    );
  });

  it("does not take short or other words for known ones", () => {
    for (const [typed, known] of [
      ["лук", "Газпром"],
      ["тнк", "ТАИФ"],
      ["роса", "Лукойл"],
      ["татнефть", "Башнефть"],
    ])
      expect(fitOf(typed!, known!), `${typed} ${known}`).to.equal(null);
    fc.assert(
      fc.property(fc.string({ maxLength: 30 }), fc.string({ maxLength: 30 }), (a, b) => {
        expect(fitOf(a, b)).to.be.oneOf([0, 1, null]);
        if (soundOf(a) !== "") expect(fitOf(a, a)).to.equal(0);
      }),
    );
  });
});
