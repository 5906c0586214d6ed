import { expect } from "chai";
import fc from "fast-check";
import type { Box } from "#src/domain/geo.ts";
import {
  boxesAround,
  boxesOf,
  holds,
  nameOf,
  overlap,
  quarters,
  rectanglesFor,
} from "#web/widget/rectangles.ts";

const city: Box = { south: 55.6, west: 37.3, north: 55.9, east: 37.9 };
const views = fc
  .tuple(
    fc.double({ min: -80, max: 75, noNaN: true }),
    fc.double({ min: -178, max: 170, noNaN: true }),
    fc.double({ min: 2.5, max: 18, noNaN: true }),
  )
  .map(([south, west, zoom]) => {
    const width = Math.min(360 / 2 ** zoom, 175 - west);
    const north = Math.min(90, south + width / 2);
    return { zoom, box: { south, west, north, east: west + width } };
  });

describe("web: which rectangles show a view", () => {
  it("cover all of it", () => {
    fc.assert(
      fc.property(
        views,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 2 }),
        ({ zoom, box }, [a, b]) => {
          const lat = box.south + (box.north - box.south) * a!;
          const lon = box.west + (box.east - box.west) * b!;
          expect(rectanglesFor(box, zoom, []).some((one) => holds(one, lat, lon))).to.equal(true);
        },
      ),
    );
  });

  it("are the same for neighbours", () => {
    const shifted = { ...city, west: city.west + 0.001, east: city.east + 0.001 };
    expect(rectanglesFor(shifted, 11, []).map(nameOf)).to.deep.equal(
      rectanglesFor(city, 11, []).map(nameOf),
    );
  });

  it("stay while the view stays inside, and go when it leaves or has become much smaller", () => {
    const first = rectanglesFor(city, 11, []);
    const moved = { ...city, west: city.west + 0.05, east: city.east + 0.05 };
    expect(rectanglesFor(moved, 11, first)).to.deep.equal(first);
    const away = { ...city, west: city.west + 2, east: city.east + 2 };
    expect(rectanglesFor(away, 11, first)).to.not.deep.equal(first);
    const close = { south: 55.7, west: 37.5, north: 55.71, east: 37.52 };
    expect(rectanglesFor(close, 15, first)).to.not.deep.equal(first);
  });

  it("are cells that do not move with the view where it is a country", () => {
    const country: Box = { south: 45, west: 30, north: 60, east: 80 };
    const moved = { ...country, west: 31, east: 81 };
    expect(rectanglesFor(moved, 4, []).map(nameOf)).to.deep.equal(
      rectanglesFor(country, 4, []).map(nameOf),
    );
  });

  it("fall into quarters that cover them without a gap", () => {
    const whole: Box = { south: 0, west: 0, north: 2, east: 4 };
    const parts = quarters(whole);
    expect(parts).to.have.length(4);
    expect(parts.filter((one) => holds(one, 1, 2))).to.have.length(4);
    for (const [lat, lon] of [
      [0, 0],
      [2, 4],
      [0.1, 3.9],
    ] as const)
      expect(parts.filter((one) => holds(one, lat, lon))).to.have.length(1);
    expect(parts.every((one) => overlap(one, whole))).to.equal(true);
  });

  it("are on both sides of 180° where the view is", () => {
    const strait = { south: 62, north: 68 };
    const sides = [
      { ...strait, west: 172, east: 180 },
      { ...strait, west: -180, east: -168 },
    ];
    expect(boxesOf({ ...strait, west: 172, east: 192 })).to.deep.equal(sides);
    expect(boxesOf({ ...strait, west: -188, east: -168 })).to.deep.equal(sides);
    expect(boxesOf({ ...strait, west: 550, east: 560 })).to.deep.equal([
      { ...strait, west: -170, east: -160 },
    ]);
    expect(boxesOf({ ...strait, west: -100, east: 270 })).to.deep.equal([
      { ...strait, west: -180, east: 180 },
    ]);
  });

  it("are foretold: what a map will show lies in what was asked for before it was there", () => {
    const [width, height] = [360, 740];
    for (const [lat, zoom] of [
      [55.75, 11],
      [0, 9],
      [68, 12],
      [-40, 7.3],
    ] as const) {
      const before = boxesAround({ lat, lon: 37, zoom }, { width, height }).flatMap((box) =>
        rectanglesFor(box, zoom, []),
      );
      // Web Mercator, as the map draws it.
      const world = 512 * 2 ** zoom;
      const y = (of: number) => Math.asinh(Math.tan((of * Math.PI) / 180)) / (2 * Math.PI);
      const latAt = (at: number) => (Math.atan(Math.sinh(at * 2 * Math.PI)) * 180) / Math.PI;
      const view = {
        south: latAt(y(lat) - height / 2 / world),
        west: 37 - (width / world) * 180,
        north: latAt(y(lat) + height / 2 / world),
        east: 37 + (width / world) * 180,
      };
      expect(rectanglesFor(view, zoom, before)).to.deep.equal(before);
    }
  });

  it("are such as the API understands, wherever the map was dragged", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -90, max: 90, noNaN: true }),
        fc.double({ min: -1000, max: 1000, noNaN: true }),
        fc.double({ min: 0, max: 18, noNaN: true }),
        (south, west, zoom) => {
          const width = 720 / 2 ** zoom;
          const edges = { south, west, north: south + width / 2, east: west + width };
          for (const box of boxesOf(edges).flatMap((one) => rectanglesFor(one, zoom, []))) {
            const [s, w, n, e] = nameOf(box).split(",").map(Number);
            expect(s).to.be.within(-90, n!);
            expect(w).to.be.within(-180, e!);
            expect(n).to.be.at.most(90);
            expect(e).to.be.at.most(180);
          }
        },
      ),
    );
  });
});
