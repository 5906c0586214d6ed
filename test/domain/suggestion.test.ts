import { expect } from "chai";
import fc from "fast-check";
import { distanceM } from "#src/domain/geo.ts";
import { suggestedOf, suggestionKinds } from "#src/domain/suggestion.ts";

const lat = fc.double({ min: -85, max: 85, noNaN: true });
const lon = fc.double({ min: -179, max: 179, noNaN: true });
const id = fc.string({ minLength: 1 });

describe("domain: what a driver says of a station itself", () => {
  it("is about its station, or about a place of a hundred metres", () => {
    fc.assert(
      fc.property(fc.constantFrom(...suggestionKinds), id, lat, lon, (kind, station_id, y, x) => {
        fc.pre(y !== 0 || x !== 0);
        const said = suggestedOf({ kind, station_id, lat: y, lon: x });
        if (typeof said === "string") throw new Error(said);
        expect(said.at).to.deep.equal(
          kind === "moved" || kind === "missing" ? { lat: y, lon: x } : null,
        );
        if (kind !== "missing") {
          expect([said.subject, said.stationId]).to.deep.equal([station_id, station_id]);
          return;
        }
        expect(said.stationId).to.equal("");
        const [south, west] = said.subject.split(",").map(Number);
        expect(distanceM({ lat: south!, lon: west! }, { lat: y, lon: x })).to.be.below(80);
      }),
    );
  });

  it("names the field that is missing or of no use", () => {
    expect(suggestedOf({ kind: "gone" })).to.equal("station_id");
    expect(suggestedOf({ kind: "moved", station_id: "n1" })).to.equal("lat");
    expect(suggestedOf({ kind: "moved", lat: 1, lon: 2 })).to.equal("station_id");
    expect(suggestedOf({ kind: "missing", lat: 1 })).to.equal("lon");
    expect(suggestedOf({ kind: "missing", lat: 0, lon: 0 })).to.equal("lon");
    const nearNull = suggestedOf({ kind: "missing", lat: -0.0001, lon: 0.0001 });
    expect(nearNull).to.include({ subject: "0.000,0.000" });
  });
});
