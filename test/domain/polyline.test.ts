import { expect } from "chai";
import fc from "fast-check";
import type { Point } from "#src/domain/geo.ts";
import { decodePolyline } from "#src/domain/polyline.ts";

function encode(points: readonly Point[]): string {
  let text = "";
  let [lat, lon] = [0, 0];
  const put = (difference: number): void => {
    let value = difference < 0 ? ~(difference << 1) : difference << 1;
    for (; value >= 32; value >>>= 5) text += String.fromCharCode((32 | (value & 31)) + 63);
    text += String.fromCharCode(value + 63);
  };
  for (const point of points) {
    const [y, x] = [Math.round(point.lat * 1e5), Math.round(point.lon * 1e5)];
    put(y - lat);
    put(x - lon);
    [lat, lon] = [y, x];
  }
  return text;
}

describe("an encoded polyline", () => {
  it("is read as its format's own example says", () => {
    expect(decodePolyline("_p~iF~ps|U_ulLnnqC_mqNvxq`@")).to.deep.equal([
      { lat: 38.5, lon: -120.2 },
      { lat: 40.7, lon: -120.95 },
      { lat: 43.252, lon: -126.453 },
    ]);
    expect(decodePolyline("")).to.deep.equal([]);
  });

  it("gives back the points that were encoded", () => {
    const point = fc.record({
      lat: fc.integer({ min: -9_000_000, max: 9_000_000 }).map((n) => n / 1e5),
      lon: fc.integer({ min: -18_000_000, max: 18_000_000 }).map((n) => n / 1e5),
    });
    fc.assert(
      fc.property(fc.array(point), (points) => {
        expect(decodePolyline(encode(points))).to.deep.equal(
          points.map(({ lat, lon }) => ({ lat: lat || 0, lon: lon || 0 })),
        );
      }),
    );
  });

  it("is refused when it is cut off, of other characters, or leads off the globe", () => {
    expect(decodePolyline("_p~iF~ps|U_")).to.equal(null);
    expect(decodePolyline("_p~iF")).to.equal(null);
    expect(decodePolyline("_p~iF ps|U")).to.equal(null);
    expect(decodePolyline("Москва")).to.equal(null);
    expect(decodePolyline(encode([{ lat: 91, lon: 0 }]))).to.equal(null);
    expect(decodePolyline("~".repeat(7))).to.equal(null);
    fc.assert(
      fc.property(fc.stringMatching(/^[?-~]{0,20}$/), (text) => {
        for (const { lat, lon } of decodePolyline(text) ?? [])
          expect(Math.abs(lat) <= 90 && Math.abs(lon) <= 180).to.equal(true);
      }),
    );
  });
});
