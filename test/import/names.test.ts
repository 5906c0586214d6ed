import { expect } from "chai";
import fc from "fast-check";
import { brandKey, firmName } from "#src/import/brand-key.ts";
import { brandOfKey } from "#src/import/brand-list.ts";
import { brandOfName, isNoBrand, knownBrands } from "#src/import/brand-names.ts";
import { cleanText, repairLookalikes } from "#src/import/clean-text.ts";

describe("names in imported files", () => {
  it("repairs words that mix look-alike letters, and leaves the others", () => {
    expect(repairLookalikes("Тран\u0063АЗС")).to.equal("ТрансАЗС");
    expect(repairLookalikes("Tamic \u0415nergy")).to.equal("Tamic Energy");
    for (const text of ["Shell", "Лукойл", "ГАЗON", "BNP", "ВНР", "улица 8 Марта"]) {
      expect(repairLookalikes(text)).to.equal(text);
    }
  });

  const moscow = { lat: 55.75, lon: 37.62 };
  const helsinki = { lat: 60.17, lon: 24.94 };
  const rome = { lat: 41.9, lon: 12.5 };
  const bangkok = { lat: 13.75, lon: 100.5 };
  const known = knownBrands(new Map());

  for (const [brand, spellings] of Object.entries({
    Лукойл: ["Лукойл", "ЛУКОЙЛ", "Lukoil", 'АЗС "Лукойл"', "ООО «Лукойл»"],
    Газпромнефть: ["Газпром Нефть", "ГАЗПРОМНЕФТЬ", "Gazprom Neft", "газпром-нефть"],
    Газпром: ["Gazprom", "ГАЗПРОМ"],
    Роснефть: ["Rosneft", "РОСНЕФТЬ"],
    "ТАИФ-НК": ["ТАИФ", "TAIF-NK", "Таиф-НК"],
    Teboil: ["Тебойл", "TEBOIL"],
    Shell: ["Шелл", "SHELL"],
    TotalEnergies: ["Total", "TotalEnergies"],
    IRBIS: ["Irbis", "Ирбис"],
  })) {
    it(`knows ${spellings.join(", ")} as ${brand} in Russia`, () => {
      const found = spellings.map((one) => known(one, moscow));
      expect(found).to.deep.equal(spellings.map(() => brand));
    });
  }

  it("serves a brand as the country of the station spells it", () => {
    expect(known("Лукойл", rome)).to.equal("Lukoil");
    expect(known("Lukoil", { lat: 42.7, lon: 23.3 })).to.equal("Лукойл");
    expect(known("SHELL", helsinki)).to.equal("Shell");
    expect(known("Shell", bangkok)).to.equal("เชลล์");
    expect(known("Agip Eni", rome)).to.equal("Eni");
  });

  it("knows a brand only where there is one", () => {
    expect(known("Q8", rome)).to.equal("Q8");
    expect(known("Q8", moscow)).to.equal(undefined);
    expect(known("Полюс", moscow)).to.equal(undefined);
    expect(known("Lukoil", { lat: 0, lon: -30 }), "at sea").to.equal("Lukoil");
  });

  it("serves what an alias of the operator says, before the list", () => {
    const aliases = knownBrands(
      new Map([
        ["полюсплюс", "Полюс"],
        ["lukoil", "ЛУКОЙЛ"],
        ["teboil", ""],
      ]),
    );
    expect(aliases("Полюс-плюс", moscow)).to.equal("Полюс");
    expect(aliases("LUKOIL", rome)).to.equal("ЛУКОЙЛ");
    expect(aliases("Teboil", helsinki)).to.equal("");
  });

  it("finds one brand by its spellings in all languages, and keeps others apart", () => {
    const same = (...spellings: string[]) =>
      new Set(spellings.map((one) => brandOfKey(brandKey(one)))).size === 1;
    expect(same("Lukoil", "ЛУКОЙЛ", "ლუკოილი")).to.equal(true);
    expect(same("Шелл", "Shell", "เชลล์")).to.equal(true);
    expect(same("Газпром Нефть", "Gazpromneft", "Газпромнефть АЗС")).to.equal(true);
    for (const pair of [
      ["Газпром", "Газпромнефть"],
      ["Shell", "Shell Express"],
      ["Eni", "IP"],
      ["Полюс", "Кедр"],
    ] as const)
      expect(same(...pair), pair.join(" and ")).to.equal(false);
  });

  it("compares brands without case, quotes, spaces, legal forms and mixed-in letters of another alphabet", () => {
    const letters = [..."АВЕКМНОРСТУХ"];
    const latin = [..."ABEKMHOPCTYX"];
    const word = fc.string({ unit: fc.constantFrom(..."абвгдежклмнопрстуфхцчшэюя"), minLength: 3 });
    fc.assert(
      fc.property(word, fc.nat({ max: 11 }), fc.nat(), (text, letter, at) => {
        const key = brandKey(`Ж${text}`);
        const mixed = [..."Ж".concat(text).toUpperCase()];
        for (const spelling of [
          `ж${text}`.toUpperCase(),
          `"Ж${text}"`,
          `АЗС «Ж${text}»`,
          `ООО Ж${text}`,
          `Ж ${text}`,
          `ж-${text} № 5`,
          ` Ж${text}\u200b`.replace("\u200b", " "),
        ])
          expect(brandKey(spelling), spelling).to.equal(key);
        const place = at % (mixed.length + 1);
        const with_ = (one: string) => mixed.toSpliced(place, 0, one).join("");
        expect(brandKey(with_(latin[letter]!))).to.equal(brandKey(with_(letters[letter]!)));
      }),
    );
  });

  it("gives a key its own key", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const key = brandKey(text);
        expect(/[\s"'«»-]/u.test(key)).to.equal(false);
        expect(key).to.equal(key.toLowerCase());
      }),
    );
  });

  it("takes Independent and its like for no brand", () => {
    const none = ["Independent", "АЗС", "нет", "", "—", "-", "none", "Pompe Bianche", "Posto"];
    expect(none.filter((one) => !isNoBrand(one, rome))).to.deep.equal([]);
    expect(["Shell", "Трасса", "ВТК"].filter((one) => isNoBrand(one, moscow))).to.deep.equal([]);
    // A word for fuel in most countries, and a brand in some.
    expect(isNoBrand("Petrol", { lat: 46.05, lon: 14.51 })).to.equal(false);
    expect(isNoBrand("Petrol", moscow)).to.equal(true);
  });

  it("finds a known brand at the start of a name only, and only as a whole word", () => {
    expect(brandOfName("Shell Express Tarmola", helsinki, known)).to.equal("Shell");
    expect(brandOfName("Газпром нефть № 12", moscow, known)).to.equal("Газпромнефть");
    expect(brandOfName("ABC!", helsinki, known)).to.equal("ABC");
    expect(brandOfName("Shellfish Bar", helsinki, known)).to.equal(undefined);
    expect(brandOfName("Кафе Shell", moscow, known)).to.equal(undefined);
  });

  it("strips legal forms, and does not show the name of a sole trader", () => {
    expect(firmName('ООО "Юнигаз"')).to.equal("Юнигаз");
    expect(firmName("ИП Иванов Иван Иванович")).to.equal("");
  });

  it("gives text that Postgres, JSON and a line of a screen can hold, whatever comes", () => {
    expect(cleanText(" a\u0000b\n\tc \ud800d\u200b ", 50)).to.equal("a b c d");
    expect(cleanText("и\u0306", 50)).to.equal("й");
    expect(cleanText({ toString: () => "x" }, 50)).to.equal("");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 40 }), (text, max) => {
        const clean = cleanText(text, max);
        expect([...clean].length).to.be.at.most(max);
        expect(clean).to.equal(clean.trim());
        expect(/[\p{Cc}\p{Cs}]/u.test(clean)).to.equal(false);
      }),
    );
  });
});
