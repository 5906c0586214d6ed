import { expect } from "chai";
import fc from "fast-check";
import { distanceM } from "#src/domain/geo.ts";
import { fitView, type MapView, metresPerPx, placeIn, tilesIn } from "#web/kit/map-view.ts";

const [width, height] = [600, 330];
const fit = (points: { lat: number; lon: number }[]): MapView => fitView(points, width, height);
const point = fc.record({
  lat: fc.double({ min: -89, max: 89, noNaN: true }),
  lon: fc.double({ min: -180, max: 180, noNaN: true }),
});
/** Points that lie within some degrees of each other, anywhere. */
const region = fc
  .tuple(point, fc.array(point, { minLength: 1, maxLength: 20 }))
  .map(([centre, around]) =>
    around.map(({ lat, lon }) => ({
      lat: Math.max(-84, Math.min(84, centre.lat + lat / 30)),
      lon: ((centre.lon + lon / 30 + 540) % 360) - 180,
    })),
  );

/** decisions 13.23 */
describe("web: the console's small map", function () {
  it("shows every point, with room for its sign", () => {
    const anywhere = fc.array(point, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.oneof(region, anywhere), (points) => {
        const view = fit(points);
        for (const [x, y] of points.map((one) => placeIn(view, one))) {
          expect(x).to.be.within(29.99, width - 29.99);
          expect(y).to.be.within(29.99, height - 29.99);
        }
      }),
    );
  });

  it("is as close as the points allow, and never shows less than 12 km", () => {
    fc.assert(
      fc.property(region, (points) => {
        const view = fit(points);
        const places = points.map((one) => placeIn(view, one));
        const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
        const spare = Math.min(
          width - 60 - (Math.max(...xs) - Math.min(...xs)),
          height - 60 - (Math.max(...ys) - Math.min(...ys)),
        );
        const shownM = metresPerPx(view) * width;
        expect(shownM).to.be.greaterThan(11_990);
        if (shownM > 12_010) expect(spare).to.be.lessThan(0.01);
      }),
    );
  });

  it("shows points on both sides of 180° as neighbours", () => {
    const [chukotka, alaska] = [
      { lat: 66, lon: 179 },
      { lat: 66, lon: -178 },
    ];
    const view = fit([chukotka, alaska]);
    const [[west], [east]] = [placeIn(view, chukotka), placeIn(view, alaska)];
    expect(east).to.be.greaterThan(west);
    expect(metresPerPx(view) * (east - west)).to.be.closeTo(distanceM(chukotka, alaska), 1000);
    const tiles = tilesIn(view);
    expect(tiles.every(({ z, x }) => x >= 0 && x < 2 ** z)).to.equal(true);
    // The tiles of the far west lie to the right of those of the far east.
    const far = tiles.find(({ z, x }) => x === 2 ** z - 1)!;
    const near = tiles.find(({ x, y }) => x === 0 && y === far.y)!;
    expect(near.left).to.be.closeTo(far.left + far.size, 0.01);
  });

  it("projects as web maps do: the same places, and the world as a square", () => {
    const view: MapView = { left: 0, top: 0, scale: 256, width: 256, height: 256 };
    expect(placeIn(view, { lat: 0, lon: 0 })).to.deep.equal([128, 128]);
    const [x, y] = placeIn(view, { lat: 85.05112878, lon: -90 });
    expect([x, y]).to.satisfy(() => x === 64 && Math.abs(y) < 1e-6);
    // Moscow's tile at zoom 7.
    const moscow = placeIn({ ...view, scale: 128 }, { lat: 55.75, lon: 37.6 });
    expect(moscow.map(Math.floor)).to.deep.equal([77, 40]);
  });

  it("asks for the tiles that cover the view, few of them, and of zooms that there are", () => {
    fc.assert(
      fc.property(region, (points) => {
        const view = fit(points);
        const tiles = tilesIn(view);
        expect(tiles.length).to.be.within(1, 6);
        expect(tiles.every(({ z }) => z >= 0 && z <= 7)).to.equal(true);
        for (const [x, y] of points.map((one) => placeIn(view, one)))
          expect(
            tiles.some(
              ({ left, top, size }) =>
                x >= left - 0.01 &&
                x <= left + size + 0.01 &&
                y >= top - 0.01 &&
                y <= top + size + 0.01,
            ),
          ).to.equal(true);
      }),
    );
  });

  it("shows the world when there is nothing to show", () => {
    const view = fit([]);
    expect(placeIn(view, { lat: 0, lon: 0 })).to.deep.equal([width / 2, height / 2]);
  });
});
