import { expect } from "chai";
import fc from "fast-check";
import { grades } from "#src/domain/vocabulary.ts";
import { readWish } from "#web/widget/wishes.ts";

describe("web: what a page may ask of the map", () => {
  it("reads the three wishes", () => {
    expect(readWish({ type: "fuelmark:open-station", station_id: "n1003" })).to.deep.equal({
      ...{ what: "station", id: "n1003" },
    });
    for (const grade of [...grades, null])
      expect(readWish({ type: "fuelmark:set-fuel", fuel: grade })).to.deep.equal({
        ...{ what: "fuel", grade },
      });
    expect(readWish({ type: "fuelmark:move", lat: 55.75, lon: -37.5 })).to.deep.equal({
      ...{ what: "move", target: { lat: 55.75, lon: -37.5, zoom: 12 } },
    });
  });

  it("takes nothing that leaves the world, and no text that is no id or grade", () => {
    const types = ["fuelmark:open-station", "fuelmark:set-fuel", "fuelmark:move", "fuelmark:ready"];
    const value = fc.oneof(
      fc.anything(),
      fc.double(),
      fc.constantFrom("../x", "n1", "95", "diesel", null, 91, 181, Number.NaN),
    );
    const message = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...types), fc.anything()),
        ...{ station_id: value, fuel: value, lat: value, lon: value, zoom: value },
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(message, fc.anything()), (data) => {
        const wish = readWish(data);
        if (wish?.what === "station") expect(wish.id).to.match(/^[\w-]{1,64}$/);
        if (wish?.what === "fuel") expect([...grades, null]).to.include(wish.grade);
        if (wish?.what === "move") {
          expect(Math.abs(wish.target.lat)).to.be.at.most(90);
          expect(Math.abs(wish.target.lon)).to.be.at.most(180);
          expect(wish.target.zoom).to.be.within(0, 22);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
