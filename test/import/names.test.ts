import { expect } from "chai";
import fc from "fast-check";
import { brandOfName, firmName, isNoBrand, knownBrand } from "#src/import/brand-names.ts";
import { cleanText, repairLookalikes } from "#src/import/clean-text.ts";

describe("names in imported files", () => {
  it("repairs words that mix look-alike letters, and leaves the others", () => {
    expect(repairLookalikes("Тран\u0063АЗС")).to.equal("ТрансАЗС");
    expect(repairLookalikes("Tamic \u0415nergy")).to.equal("Tamic Energy");
    for (const text of ["Shell", "Лукойл", "ГАЗON", "BNP", "ВНР", "улица 8 Марта"]) {
      expect(repairLookalikes(text)).to.equal(text);
    }
  });

  for (const [brand, spellings] of Object.entries({
    Лукойл: ["Лукойл", "ЛУКОЙЛ", "Lukoil", 'АЗС "Лукойл"', "ООО «Лукойл»"],
    Газпромнефть: ["Газпром Нефть", "ГАЗПРОМНЕФТЬ", "Gazprom Neft", "газпром-нефть"],
    Газпром: ["Gazprom", "ГАЗПРОМ"],
    IRBIS: ["Irbis", "Ирбис"],
  })) {
    it(`knows ${spellings.join(", ")} as ${brand}`, () => {
      expect(spellings.map(knownBrand)).to.deep.equal(spellings.map(() => brand));
    });
  }

  it("takes Independent and its like for no brand", () => {
    expect(["Independent", "АЗС", "нет", "", "—"].filter((one) => !isNoBrand(one))).to.deep.equal(
      [],
    );
    expect(["Shell", "Трасса", "ВТК"].filter(isNoBrand)).to.deep.equal([]);
  });

  it("finds a known brand at the start of a name only, and only as a whole word", () => {
    expect(brandOfName("Shell Express Tarmola")).to.equal("Shell");
    expect(brandOfName("Газпром нефть № 12")).to.equal("Газпромнефть");
    expect(brandOfName("ABC!")).to.equal("ABC");
    expect(brandOfName("Shellfish Bar")).to.equal(undefined);
    expect(brandOfName("Кафе Shell")).to.equal(undefined);
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
