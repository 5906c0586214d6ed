import { readFileSync } from "node:fs";
import { feature } from "@rapideditor/country-coder";
import { expect } from "chai";
import { brandKey } from "#src/import/brand-key.ts";
import { brandsOfKey, type ListedBrand } from "#src/import/brand-list.ts";

describe("the lists of brands", () => {
  const read = (name: string): { text: string; brands: ListedBrand[] } => {
    const text = readFileSync(new URL(`../../src/import/${name}`, import.meta.url), "utf8");
    return { text, brands: (JSON.parse(text) as { brands: ListedBrand[] }).brands };
  };
  const [list, own] = [read("brands.json"), read("own-brands.json")];

  it("are small, and name their source", () => {
    expect(list.text.length).to.be.below(300_000);
    expect(list.text).to.match(/"source": "name-suggestion-index 8\.\d+\.\d+, BSD-3-Clause"/);
    expect(list.brands.length).to.be.above(500);
  });

  it("have names by which a brand is found, and codes of countries and continents", () => {
    for (const brand of [...list.brands, ...own.brands]) {
      expect(brandsOfKey(brandKey(brand.name)), brand.name).to.deep.include(brand);
      for (const code of `${brand.in ?? ""} ${brand.not ?? ""}`.split(" ").filter(Boolean))
        expect(feature(code), `${brand.name}: ${code}`).to.not.equal(null);
    }
  });

  it("have nothing of our own that the list has as well", () => {
    for (const { name, also = [], wikidata, in: places } of own.brands) {
      const listed = list.brands.filter(
        (one) => one.name === name && one.wikidata === wikidata && one.in === places,
      );
      const known = new Set(listed.flatMap((one) => [one.name, ...(one.also ?? [])]).map(brandKey));
      const left = [name, ...also].filter((one) => !known.has(brandKey(one)));
      expect(left, name).to.not.deep.equal([]);
    }
  });
});
