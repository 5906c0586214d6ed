import { expect } from "chai";
import fc from "fast-check";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";
import { brandsOf, filtersOn, noFilters, passesBrand } from "#web/widget/filters.ts";
import { filtersText, keptFilters, readFilters, writeFilters } from "#web/widget/kept-filters.ts";

const anyFilters = fc.record({
  grades: fc.subarray([...grades]),
  statuses: fc.subarray([...statuses, "nodata" as const]),
  brands: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" }), {
    maxLength: 5,
  }),
  queues: fc.subarray([...queues]),
  priced: fc.boolean(),
  freshH: fc.option(fc.constantFrom(1, 3, 6, 12)),
});

describe("web: filters in the address", () => {
  it("come back as they were, and leave the rest of it alone", () => {
    fc.assert(
      fc.property(anyFilters, anyFilters, (filters, before) => {
        const address = new URLSearchParams("fuel=95&city=Тестоград");
        writeFilters(address, before);
        writeFilters(address, filters);
        expect(address.get("fuel")).to.equal("95");
        expect(address.get("city")).to.equal("Тестоград");
        const read = readFilters(address.toString());
        expect(read ?? noFilters).to.deep.equal(filters);
        expect(read === null).to.equal(filtersOn(filters) === 0);
        const text = filtersText(filters);
        expect(keptFilters("?fuel=95", text)).to.deep.equal(filters);
        if (text !== null) expect(keptFilters(`?${text}`, "price=1")).to.deep.equal(filters);
      }),
    );
  });

  it("are read from anybody's address without harm", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        readFilters(text);
      }),
    );
    expect(readFilters("status=yes,wrong&fresh=-1&only=80,95&queue=5&price=yes")).to.deep.equal({
      ...noFilters,
      statuses: ["yes"],
      grades: ["95"],
    });
  });

  it("count brands, the largest first", () => {
    const stations = ["B", "A", "", "B", "C", "A", "B"].map((brand) => ({ brand }));
    expect(brandsOf(stations)).to.deep.equal([
      ["B", 3],
      ["A", 2],
      ["C", 1],
    ]);
    const wanted = { ...noFilters, brands: ["A"] };
    expect(stations.filter(({ brand }) => passesBrand(brand, wanted))).to.have.length(2);
  });
});
