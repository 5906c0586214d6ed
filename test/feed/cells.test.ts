import { expect } from "chai";
import fc from "fast-check";
import type { Box, Point } from "#src/domain/geo.ts";
import { cellsAround, cellsOf } from "#src/feed/cache-generations.ts";
import { compileArea } from "#snapshots/model/block-list.ts";
import { widenBox } from "#api/stations/stations-query.ts";

const degrees = (most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.double({ min: -most, max: most, noNaN: true }),
    // Edges of cells and of the map.
    fc.integer({ min: -most * 4, max: most * 4 }).map((quarter) => quarter / 4),
    fc.constantFrom(-most, most),
  );
const points: fc.Arbitrary<Point> = fc.record({ lat: degrees(90), lon: degrees(180) });
const boxes: fc.Arbitrary<Box> = fc
  .record({ at: points, height: fc.double({ min: 0, max: 8, noNaN: true }), to: degrees(180) })
  .map(({ at, height, to }) => ({
    ...{ south: at.lat, north: Math.min(90, at.lat + height), west: at.lon },
    east: height < 4 ? Math.min(180, at.lon + height) : to,
  }));

describe("cells of the map", () => {
  it("share one with each rectangle that contains the point, edges included", () => {
    fc.assert(
      fc.property(points, boxes, (point, box) => {
        const wide = widenBox(box);
        const cells = cellsAround(wide);
        expect(cells.length).to.be.within(1, 16);
        expect(new Set(cells).size).to.equal(cells.length);
        if (compileArea({ kind: "box", box: wide }).holds(point.lat, point.lon))
          expect(cellsOf(point).some((cell) => cells.includes(cell))).to.equal(true);
      }),
      { numRuns: 5000 },
    );
  });

  it("contain the corners and the middle of every rectangle", () => {
    fc.assert(
      fc.property(boxes, (box) => {
        const wide = widenBox(box);
        const { south, west, north, east } = wide;
        const { centre } = compileArea({ kind: "box", box: wide });
        const cells = cellsAround(wide);
        for (const lat of [south, north, centre.lat])
          for (const lon of [west, east, centre.lon])
            expect(cellsOf({ lat, lon }).some((cell) => cells.includes(cell))).to.equal(true);
      }),
      { numRuns: 5000 },
    );
  });

  it("are few and small around a small rectangle, and take ±180° for one meridian", () => {
    const town = { south: 54.9, west: 82.7, north: 55.2, east: 83.2 };
    expect(cellsAround(town)).to.have.lengthOf(6);
    const sides = [
      { south: 10, west: 179.9, north: 10.1, east: 180 },
      { south: 10, west: -180, north: 10.1, east: -179.9 },
      { south: 10, west: 179.9, north: 10.1, east: -179.9 },
    ].map(cellsAround);
    for (const lon of [180, -180]) {
      const [cell] = cellsOf({ lat: 10.05, lon });
      for (const cells of sides) expect(cells).to.include(cell);
    }
    expect(cellsAround({ south: -90, west: -180, north: 90, east: 180 })).to.deep.equal(["all"]);
  });
});
