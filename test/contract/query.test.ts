import { expect } from "chai";
import fc from "fast-check";
import { createQueryParser, listOfNames, type QueryType } from "#src/contract/query.ts";

const types = new Map<string, QueryType>([
  ["q", "string"],
  ["limit", "integer"],
  ["radius_km", "number"],
  ["has_price", "boolean"],
]);

const parse = createQueryParser(types);
const values = (search: string): unknown => {
  const parsed = parse(search);
  return parsed.faults ?? parsed.values;
};
const faults = (search: string): string[] =>
  (parse(search).faults ?? []).map(({ loc, type }) => `${loc.join(".")} ${type}`);

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

  it("takes only true, false, 1 and 0 for a boolean, in any case", () => {
    expect(values("has_price=0")).to.deep.equal({ has_price: false });
    expect(values("has_price=True")).to.deep.equal({ has_price: true });
    expect(values("has_price=FALSE")).to.deep.equal({ has_price: false });
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

  for (const [name, known] of [
    ["Q", "q"],
    ["limit[]", "limit"],
    ["limit[0]", "limit"],
    ["limits", "limit"],
    ["radiusKm", "radius_km"],
    ["radius-km", "radius_km"],
    ["HAS_PRICE", "has_price"],
    ["has_prices[]", "has_price"],
  ] as const) {
    it(`refuses ${name} and names ${known}`, () => {
      const [fault, ...more] = parse(`${encodeURIComponent(name)}=x`).faults ?? [];
      expect(more).to.deep.equal([]);
      expect(fault?.loc).to.deep.equal(["query", name]);
      expect(fault?.msg).to.match(new RegExp(` ${known}$`));
      expect(fault?.ctx).to.deep.equal({ known });
    });
  }

  it("names what it ignores, each once", () => {
    expect(parse("x=1&q=a&y=2&x=3&&=&limit_to=5").ignored).to.deep.equal(["x", "y", "limit_to"]);
    expect(parse("x=1&limit=x").ignored).to.deep.equal(["x"]);
    expect(parse("q=a").ignored).to.deep.equal([]);
  });

  it("lists names for a header: safe characters, a bounded length", () => {
    expect(listOfNames([])).to.equal("");
    expect(listOfNames(["x", "a b", "ё", "a,b\r\nX: 1"])).to.equal(
      "x, a%20b, %D1%91, a%2Cb%0D%0AX%3A%201",
    );
    expect(listOfNames(["я".repeat(61)])).to.equal(`${"%D1%8F".repeat(60)}...`);
    expect(listOfNames(["😀".repeat(60)])).to.equal("...");
    const many = listOfNames(Array.from({ length: 1000 }, (_, n) => `name${n}`));
    expect(many).to.match(/^name0, name1, .*, \.\.\.$/);
    expect(many.length).to.be.within(450, 510);
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
        listOfNames(parse(`${encodeURIComponent(Buffer.from(text).toString())}=1`).ignored);
        parse(text);
        if (/\p{Surrogate}/u.test(text)) return;
        const search = new URLSearchParams({ q: text }).toString();
        expect(values(search)).to.deep.equal({ q: text });
      }),
    );
  });
});
