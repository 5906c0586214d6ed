import { expect } from "chai";
import fc from "fast-check";
import { brandKey } from "#src/import/brand-key.ts";
import { createBrandTable } from "#snapshots/model/brand-table.ts";

describe("the brands of a model's stations", () => {
  const text = fc.oneof(
    fc.constantFrom(
      "",
      "Лукойл",
      "LUKOIL",
      "Shell",
      "«Шелл»",
      "ООО Полюс",
      "АЗС",
      "—",
      "OK",
      "gas",
    ),
    fc.string({ unit: "grapheme", maxLength: 12 }),
    // Letters of both alphabets that look alike.
    fc.string({ unit: fc.constantFrom(..."aаeеoоcсBВhНн -'№5"), maxLength: 12 }),
    fc.constantFrom("x", "ж").map((letter) => letter.repeat(5000)),
  );
  const aliases = fc
    .array(fc.tuple(text, text), { maxLength: 5 })
    .map((pairs) => new Map(pairs.map(([from, to]) => [brandKey(from), to])));

  it("find a spelling by itself in any case, before and after an edit of the aliases", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), text, aliases, (names, later, edited) => {
        const table = createBrandTable();
        const numbers = names.map(table.numberOf);
        const finds = (name: string, number: number): void => {
          for (const spelling of [name, name.toLowerCase(), ` ${name} `])
            expect(table.spellingsOf(spelling)?.[number], spelling).to.equal(1);
        };
        names.forEach((name, n) => finds(name, numbers[n]!));
        table.learn(edited);
        names.forEach((name, n) => finds(name, numbers[n]!));
        // A brand that comes after the first question.
        finds(later, table.numberOf(later));
        expect(names.map(table.numberOf)).to.deep.equal(numbers);
      }),
    );
  });

  it("are the same for both of two spellings, or for neither", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 8 }), aliases, (names, edited) => {
        const table = createBrandTable();
        table.learn(edited);
        const numbers = names.map(table.numberOf);
        for (const [n, one] of names.entries())
          for (const [m, other] of names.entries())
            expect(table.spellingsOf(one)?.[numbers[m]!] ?? 0).to.equal(
              table.spellingsOf(other)?.[numbers[n]!] ?? 0,
            );
      }),
    );
  });

  it("have another version after an edit, and the same for the same aliases", () => {
    const [one, other] = [createBrandTable(), createBrandTable()];
    const before = one.version();
    expect(other.version()).to.equal(before);
    one.learn(new Map([["полюс", "Кедр"]]));
    expect(one.version()).to.not.equal(before);
    other.learn(new Map([["полюс", "Кедр"]]));
    expect(other.version()).to.equal(one.version());
    one.learn(new Map());
    expect(one.version()).to.equal(before);
  });

  it("take no brand from an alias of no brand", () => {
    const table = createBrandTable();
    const [polus, none] = ["Полюс", ""].map(table.numberOf);
    table.learn(new Map([["полюс", ""]]));
    expect(table.spellingsOf("полюс")![polus!]).to.equal(1);
    expect(table.spellingsOf("полюс")![none!]).to.equal(0);
    expect(table.spellingsOf("Nobody")).to.equal(null);
  });
});
