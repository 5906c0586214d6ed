import { expect } from "chai";
import fc from "fast-check";
import { type Area, compileArea, inside, outside } from "#snapshots/model/block-list.ts";
import { sized } from "#test/harness/long.ts";

const lat = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.double({ min: 89.4, max: 90, noNaN: true }),
  fc.double({ min: -90, max: -89.4, noNaN: true }),
);
const lon = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.constantFrom(-180, -170, 0, 10, 180),
);
const area: fc.Arbitrary<Area> = fc.oneof(
  fc.record({
    kind: fc.constant("circle" as const),
    centre: fc.record({ lat, lon }),
    radiusM: fc.double({ min: 1, max: 60_000, noNaN: true }),
  }),
  fc.tuple(lat, lat, lon, lon).map(([a, b, west, east]) => ({
    kind: "box" as const,
    box: { south: Math.min(a, b), north: Math.max(a, b), west, east },
  })),
);
const share = fc.double({ min: 0, max: 1, noNaN: true });

describe("area", () => {
  it("never calls a rectangle inside or outside while one of its points says otherwise", () => {
    const points = fc.array(fc.tuple(share, share), { minLength: 10, maxLength: 10 });
    fc.assert(
      fc.property(area, lat, lat, lon, lon, points, (where, a, b, c, d, inner) => {
        const [south, north] = [Math.min(a, b), Math.max(a, b)];
        const [west, east] = [Math.min(c, d), Math.max(c, d)];
        const region = compileArea(where);
        const relation = region.relate(south, west, north, east);
        for (const [up, along] of [[0, 0] as const, [1, 1] as const, ...inner]) {
          // Rounding may step over the edge by one last digit.
          const holds = region.holds(
            Math.min(north, south + (north - south) * up),
            Math.min(east, west + (east - west) * along),
          );
          if (relation === inside) expect(holds).to.equal(true);
          if (relation === outside) expect(holds).to.equal(false);
        }
      }),
      { numRuns: sized(2000, 20_000) },
    );
  });

  it("looks past the pole: beyond it a parallel's farthest point is not a corner", () => {
    const centre = { lat: 89.9, lon: 10 };
    const region = compileArea({ kind: "circle", centre, radiusM: 38_850 });
    expect([region.holds(89.75, 180), region.holds(89.75, -170)]).to.deep.equal([true, false]);
    expect(region.relate(89.75, -180, 89.9, 180)).to.not.equal(inside);
  });

  it("takes the middle of the way from west to east as a rectangle's centre, over 180° too", () => {
    const centre = (west: number, east: number) =>
      compileArea({ kind: "box", box: { south: 10, north: 20, west, east } }).centre;
    expect(centre(30, 40)).to.deep.equal({ lat: 15, lon: 35 });
    expect(centre(170, -170)).to.deep.equal({ lat: 15, lon: 180 });
    expect(centre(175, -165)).to.deep.equal({ lat: 15, lon: -175 });
  });
});
