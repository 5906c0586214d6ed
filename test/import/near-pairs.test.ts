import { expect } from "chai";
import fc from "fast-check";
import { distanceM } from "#src/domain/geo.ts";
import { nearPairs } from "#src/import/near-pairs.ts";

const place = fc.record({
  lat: fc.oneof(
    fc.integer({ min: -5, max: 5 }).map((n) => 50 + n / 5000),
    fc.constantFrom(89.9, -90, 0, -33),
  ),
  lon: fc.integer({ min: -8, max: 8 }).map((n) => n / 4000),
});

describe("places that are near one another", () => {
  it("are all found, in one order whatever that of the places is", () => {
    fc.assert(
      fc.property(
        fc.array(place, { maxLength: 40 }),
        fc.constantFrom(25, 40, 150),
        (some, withinM) => {
          const places = some.map((one, n) => ({ ...one, id: `${n}` }));
          const names = (list: typeof places): string[] =>
            nearPairs(list, withinM).map(({ a, b }) => `${a.id} ${b.id}`);
          const inOrder = places.toSorted((a, b) => a.lat - b.lat || (a.id < b.id ? -1 : 1));
          const expected = inOrder.flatMap((a, n) =>
            inOrder
              .slice(n + 1)
              .filter((b) => distanceM(a, b) <= withinM)
              .map((b) => `${a.id} ${b.id}`),
          );
          expect(names(places)).to.deep.equal(expected);
          expect(names(places.toReversed())).to.deep.equal(expected);
        },
      ),
    );
  });

  it("are looked for among few, also where all have one latitude", () => {
    const comparedOf = (count: number): number => {
      let looks = 0;
      const places = Array.from({ length: count }, (_, n) =>
        Object.defineProperty({ id: `${n}`, lat: 50, lon: 0 }, "lon", {
          get: () => ((looks += 1), n / 500),
        }),
      );
      nearPairs(places, 40);
      return looks;
    };
    expect(comparedOf(8000) / comparedOf(2000)).to.be.within(3, 6);
  });
});
