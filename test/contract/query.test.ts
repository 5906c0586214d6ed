import { expect } from "chai";
import fc from "fast-check";
import { parseQuery, type QueryType } from "#src/contract/query.ts";

const types = new Map<string, QueryType>([
  ["q", "string"],
  ["limit", "integer"],
  ["radius_km", "number"],
  ["has_price", "boolean"],
]);

const values = (search: string): unknown => {
  const parsed = parseQuery(search, types);
  return parsed.faults ?? parsed.values;
};
const faults = (search: string): string[] =>
  (parseQuery(search, types).faults ?? []).map(({ loc, type }) => `${loc.join(".")} ${type}`);

describe("the query of a URL", () => {
  it("gives typed values and ignores what is unknown", () => {
    expect(values("q=a+b%20%D0%B0&limit=5&radius_km=.5&has_price=true&x=1&x=2&&=")).to.deep.equal({
      q: "a b а",
      limit: 5,
      radius_km: 0.5,
      has_price: true,
    });
    expect(values("")).to.deep.equal({});
    expect(values("q")).to.deep.equal({ q: "" });
  });

  for (const bad of [
    "",
    "1e1",
    "1.0",
    " 5",
    "+5",
    "0x10",
    "5 ",
    "--5",
    "9999999999999999",
    "NaN",
  ]) {
    it(`does not take "${bad}" for an integer`, () => {
      expect(faults(`limit=${encodeURIComponent(bad)}`)).to.deep.equal(["query.limit int_parsing"]);
    });
  }

  it("takes neither exponents nor infinity for a number", () => {
    for (const bad of ["1e3", "Infinity", ".", "-", "1,5", "1 "]) {
      expect(faults(`radius_km=${bad}`), bad).to.deep.equal(["query.radius_km float_parsing"]);
    }
  });

  it("takes only true, false, 1 and 0 for a boolean", () => {
    expect(values("has_price=0")).to.deep.equal({ has_price: false });
    expect(faults("has_price=yes")).to.deep.equal(["query.has_price bool_parsing"]);
  });

  it("refuses a parameter given twice, also with the same value", () => {
    expect(faults("limit=5&limit=5")).to.deep.equal(["query.limit repeated"]);
    expect(faults("limit=5&%6cimit=5")).to.deep.equal(["query.limit repeated"]);
  });

  it("refuses broken percent-encoding and broken UTF-8, in names and unknown parameters too", () => {
    for (const bad of ["q=%", "q=%zz", "q=%ff", "%ff=1", "x=%C3", "q=%ED%A0%80"]) {
      expect(faults(bad), bad).to.have.length(1);
    }
  });

  it("names faults in the order of the schema", () => {
    expect(faults("has_price=x&limit=x")).to.deep.equal([
      "query.limit int_parsing",
      "query.has_price bool_parsing",
    ]);
  });

  it("never throws, and reads back what URLSearchParams writes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        parseQuery(text, types);
        if (/\p{Surrogate}/u.test(text)) return;
        const search = new URLSearchParams({ q: text }).toString();
        expect(values(search)).to.deep.equal({ q: text });
      }),
    );
  });
});
