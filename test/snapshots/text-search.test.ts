import { noSales } from "#src/domain/vocabulary.ts";
import { expect } from "chai";
import fc from "fast-check";
import { emptyState } from "#src/domain/state.ts";
import { parseSearch } from "#snapshots/model/filters.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { letterMaskOf } from "#snapshots/model/fragment.ts";
import { lifetimeMs, startMs } from "#test/snapshots/arbitraries.ts";
import { sized } from "#test/harness/long.ts";

const all = { kind: "all" as const };
const letter = fc.constantFrom(..."аяё№ zA9-ł漢😀/:");
const text = fc.array(letter, { maxLength: 12 }).map((letters) => letters.join(""));

/** A model of stations with these names. */
function modelOf(names: readonly string[]) {
  const model = createReadModel({ lifetimeMs });
  const rows = names.map((name, n) => ({
    ...{ id: `n${n}`, lat: 55, lon: 37 + n / 1000, brand: "", name, addr: "", ...noSales },
    ...{ seq: 1, at: startMs, removed: false, state: emptyState, chance: null },
  }));
  model.apply(rows, startMs);
  const count = (q: string): number =>
    model.query({ area: all, filters: parseSearch(q), limit: 4000, now: startMs }).count;
  return { count };
}

describe("text search", () => {
  it("finds the stations whose text has every word, in any script", () => {
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 20 }),
        fc.array(text, { maxLength: 4 }),
        (names, asked) => {
          const { count } = modelOf(names);
          const { words } = parseSearch(asked.join(" "));
          const folded = names.map((name) => parseSearch(name).words.join(" "));
          const expected = folded.filter((name) => words.every((word) => name.includes(word)));
          expect(count(asked.join(" "))).to.equal(expected.length);
        },
      ),
      { numRuns: sized(300, 3000) },
    );
  });

  it("has a bit for each letter of both alphabets: a lone one is looked for in the masks alone", () => {
    const own = [..."абвгдежзийклмнопрстуфхцчшщъыьэюяabcdefghijklmnopqrstuvwxyz"];
    const maskOf = (one: string): string => letterMaskOf(one).join();
    expect(new Set(own.map(maskOf)).size).to.equal(own.length);
    const others = new Set(["№", "漢", "-", ".", "ł", "/", ":"].map(maskOf));
    expect(own.filter((one) => others.has(maskOf(one)))).to.deep.equal([]);
  });

  it("takes any number of words, and words that are part of each other", () => {
    const { count } = modelOf(["газпромнефть", "газпром", "нефть"]);
    expect(count("газпромнефть газпром нефть г н")).to.equal(1);
    expect(count("г а з")).to.equal(2);
    const parts = Array.from({ length: 12 }, (_, from) => "газпромнефть".slice(from));
    const many = parts.flatMap((end) => Array.from(end, (_, to) => end.slice(0, to + 1)));
    expect(new Set(many).size).to.be.above(70);
    const twice = [...many, ...many.map((word) => word.toUpperCase())];
    expect(count(twice.join(" "))).to.equal(1);
    expect(count([...many, "нет"].join(" "))).to.equal(0);
    expect(count(Array.from({ length: 3000 }, (_, n) => n.toString(36)).join(" "))).to.equal(0);
  });
});
