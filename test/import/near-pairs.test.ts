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

  it("are looked for among few, also where all have one latitude or one longitude", () => {
    // Each with each are 20,000 million, which take a minute.
    const line = Array.from({ length: 200_000 }, (_, n) => ({ id: `${n}`, at: n / 1250 }));
    const near = (places: { id: string; lat: number; lon: number }[]): number =>
      nearPairs(places, 40).length;
    expect(near(line.map(({ id, at }) => ({ id, lat: 50, lon: at })))).to.equal(0);
    expect(near(line.map(({ id, at }) => ({ id, lat: at - 80, lon: 8 })))).to.equal(0);
  }).timeout(20_000);
});
