import fc from "fast-check";
import { expect } from "chai";
import { gradeBits, grades, gradesIn, gradesText, readGrades } from "#src/domain/vocabulary.ts";
import { fromOverpass } from "#src/import/osm-object.ts";
import { hoursText, soldFrom } from "#src/import/osm-sold.ts";
import { stationFrom } from "#src/import/osm-station.ts";

describe("what a station sells, by its tags in OSM (decisions 14.19)", () => {
  const sold = (tags: Record<string, string>) => soldFrom(tags).grades_sold;

  it("is the grades that are tagged, in any of their spellings", () => {
    expect(
      sold({ "fuel:octane_92": "yes", "fuel:octane_95": "yes", "fuel:diesel": "yes" }),
    ).to.deep.equal(["92", "95", "ДТ"]);
    expect(
      sold({ "fuel:e10": "yes", "fuel:octane_98": "yes", "fuel:octane_100": "no" }),
    ).to.deep.equal(["95", "98"]);
    expect(sold({ "fuel:octane_95": "no;yes", "fuel:HGV_diesel": "yes" })).to.deep.equal([
      "95",
      "ДТ",
    ]);
  });

  it("is unknown where the tags are no list", () => {
    expect(sold({})).to.equal(null);
    expect(sold({ "fuel:diesel": "yes" })).to.equal(null);
    expect(sold({ "fuel:octane_95": "no", "fuel:diesel": "no" })).to.equal(null);
    expect(sold({ "fuel:diesel": "yes", "fuel:octane_92": "no", "fuel:octane": "yes" })).to.equal(
      null,
    );
    expect(sold({ "fuel:octane_95": "yes", "fuel:lpg": "yes" })).to.equal(null);
  });

  it("is one grade where the tags deny another", () => {
    expect(sold({ "fuel:diesel": "yes", "fuel:octane_95": "no" })).to.deep.equal(["ДТ"]);
  });

  it("comes with the opening hours, which are never cut", () => {
    const element = {
      ...{ type: "node", id: 1, lat: 55, lon: 37 },
      tags: {
        ...{ amenity: "fuel", opening_hours: " Mo-Fr  06:00-22:00 " },
        ...{ "fuel:octane_92": "yes", "fuel:octane_95": "yes" },
      },
    };
    const object = fromOverpass(element, "osm");
    expect("refused" in object ? object : stationFrom(object)).to.deep.include({
      ...{ grades_sold: ["92", "95"], opening_hours: "Mo-Fr 06:00-22:00" },
    });
    expect(hoursText("x".repeat(255))).to.have.length(255);
    expect(hoursText("x".repeat(256))).to.equal("");
    expect(hoursText(undefined)).to.equal("");
  });
});

describe("the text of grades", () => {
  const some = fc.uniqueArray(fc.constantFrom(...grades));

  it("is one for every order and spelling of the same grades", () => {
    const spelt = fc.record({
      some,
      dt: fc.constantFrom("dt", "Дизель", "ДТ"),
      gap: fc.constantFrom("", " "),
    });
    fc.assert(
      fc.property(spelt, ({ some, dt, gap }) => {
        const list = some.map((grade) => (grade === "ДТ" ? dt : grade)).join(`,${gap}`);
        expect(readGrades(list)).to.equal(gradesText(some));
        expect(new Set(gradesIn(gradesText(some)))).to.deep.equal(new Set(some));
      }),
    );
    expect(gradesText(["ДТ", "92"])).to.equal("92,ДТ");
  });

  it("is refused with anything else in the list", () => {
    for (const list of ["93", "95;98", "95, lpg", "95 98"]) expect(readGrades(list)).to.equal(null);
    expect(readGrades(" , ")).to.equal("");
  });

  it("has a bit for each grade", () => {
    fc.assert(
      fc.property(some, (sold) => {
        grades.forEach((grade, at) =>
          expect((gradeBits(sold) >> at) & 1).to.equal(sold.includes(grade) ? 1 : 0),
        );
      }),
    );
  });
});
