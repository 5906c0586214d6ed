import { noSales } from "#src/domain/vocabulary.ts";
import { expect } from "chai";
import fc from "fast-check";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { emptyState } from "#src/domain/state.ts";
import { lengthOf } from "#src/domain/way.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { sized } from "#test/harness/long.ts";
import { lifetimeMs, startMs } from "#test/snapshots/arbitraries.ts";

const modelOf = (points: readonly Point[]) => {
  const model = createReadModel({ lifetimeMs });
  const rest = { brand: "", name: "", addr: "", ...noSales, seq: 1, at: startMs, removed: false };
  model.apply(
    points.map((point, i) => ({ id: `n${i}`, ...point, ...rest, state: emptyState, chance: null })),
    startMs,
  );
  return model;
};
const find = (points: readonly Point[], line: readonly Point[], bufferM: number, limit = 4000) =>
  modelOf(points).along({ line, bufferM, filters: {}, limit, now: startMs });

/** Nearest place of the line, found by going along it in small steps. */
function walk(point: Point, line: readonly Point[]): { atM: number; offM: number } {
  let best = { atM: 0, offM: Infinity };
  let fromM = 0;
  for (let i = 1; i < line.length; i += 1) {
    const [a, b] = [line[i - 1]!, line[i]!];
    const lengthM = distanceM(a, b);
    for (let step = 0; step <= 400; step += 1) {
      const part = step / 400;
      const lon = a.lon + (((b.lon - a.lon + 540) % 360) - 180) * part;
      const here = { lat: a.lat + (b.lat - a.lat) * part, lon };
      const offM = distanceM(here, point);
      if (offM < best.offM) best = { atM: fromM + part * lengthM, offM };
    }
    fromM += lengthM;
  }
  return best;
}

describe("stations along a way", () => {
  const near = (lon: number) =>
    fc.record({
      lat: fc.double({ min: 54.5, max: 55.5, noNaN: true }),
      lon: fc
        .double({ min: lon - 0.8, max: lon + 0.8, noNaN: true })
        .map((x) => (x > 180 ? x - 360 : x < -180 ? x + 360 : x)),
    });

  for (const lon of [37, 180])
    it(`are those that a walk along the line comes near to, at ${lon}° too`, () => {
      fc.assert(
        fc.property(
          fc.array(near(lon), { minLength: 1, maxLength: 60 }),
          fc.array(near(lon), { minLength: 2, maxLength: 5 }),
          fc.integer({ min: 100, max: 5000 }),
          (points, line, bufferM) => {
            const { along, count } = find(points, line, bufferM);
            expect(count).to.equal(along.length);
            const found = new Map(along.map((one) => [one.id, one]));
            points.forEach((point, i) => {
              const { offM } = walk(point, line);
              const one = found.get(`n${i}`);
              // A step of the walk is up to 300 m long.
              if (offM < bufferM * 0.98 - 1)
                expect(one, `${offM} of ${bufferM}`).not.to.equal(undefined);
              if (one !== undefined) {
                expect(one.off_m).to.be.at.most(bufferM + 1);
                expect(one.off_m).to.be.at.most(offM * 1.02 + 1);
                expect(one.off_m).to.be.at.least(offM * 0.98 - 160);
              }
            });
            const places = along.map(({ at_m }) => at_m);
            expect(places).to.deep.equal([...places].sort((a, b) => a - b));
            expect(Math.max(0, ...places)).to.be.at.most(lengthOf(line) + 1);
          },
        ),
        { numRuns: sized(60, 1000) },
      );
    });

  it("come in the order of the way, each once, and the first are kept", () => {
    const row = Array.from({ length: 20 }, (_, i) => ({ lat: 55, lon: 37 + i / 100 }));
    const there = [
      { lat: 55.001, lon: 36.9 },
      { lat: 55.001, lon: 37.5 },
    ];
    const ids = (line: Point[], limit?: number) =>
      find(row, line, 300, limit).along.map(({ id }) => id);
    const all = row.map((_, i) => `n${i}`);
    expect(ids(there)).to.deep.equal(all);
    expect(ids(there.toReversed())).to.deep.equal(all.toReversed());
    expect(ids([...there, there[0]!])).to.deep.equal(all);
    expect(ids(there, 5)).to.deep.equal(all.slice(0, 5));
    expect(find(row, there, 300, 5).truncated).to.equal(true);
    expect(find(row, there, 300, 20).truncated).to.equal(false);
    expect(ids([there[0]!, there[0]!])).to.deep.equal([]);
    expect(find(row, there, 100).count).to.equal(0);
  });
});
