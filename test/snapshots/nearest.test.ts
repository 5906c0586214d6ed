import { noSales } from "#src/domain/vocabulary.ts";
import { expect } from "chai";
import fc from "fast-check";
import { distanceM } from "#src/domain/geo.ts";
import { emptyState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { type Block, joinBlock } from "#snapshots/model/block.ts";
import { createBlockCache } from "#snapshots/model/block-cache.ts";
import { createBlockList, type Leaf, measured } from "#snapshots/model/block-list.ts";
import { renderStation } from "#snapshots/model/fragment.ts";
import { findNearest, orderByDistance, reachOf } from "#snapshots/model/nearest.ts";
import { slice } from "#snapshots/model/area-selection.ts";
import { lifetimeMs, startMs } from "#test/snapshots/arbitraries.ts";
import { sized } from "#test/harness/long.ts";

const lat = fc.double({ min: -90, max: 90, noNaN: true });
const lon = fc.double({ min: -180, max: 180, noNaN: true });
const part = fc.double({ min: 0, max: 1, noNaN: true });
const between = (a: number, b: number, at: number): number => Math.min(b, a + (b - a) * at);

describe("nearest stations", () => {
  it("never takes a rectangle for farther than one of its points, over 180° and the poles too", () => {
    fc.assert(
      fc.property(
        fc.record({ lat, lon }),
        fc.tuple(lat, lat, lon, lon),
        fc.array(fc.tuple(part, part), { minLength: 5, maxLength: 5 }),
        (centre, [a, b, c, d], inside) => {
          const [south, west] = [Math.min(a, b), Math.min(c, d)];
          const [north, east] = [Math.max(a, b), Math.max(c, d)];
          const reach = reachOf(centre, Float64Array.of(south, west, north, east));
          for (const [y, x] of [...inside, [0, 0], [0, 1], [1, 0], [1, 1]] as const) {
            const point = { lat: between(south, north, y), lon: between(west, east, x) };
            expect(reach).to.be.at.most(distanceM(centre, point));
          }
        },
      ),
      { numRuns: sized(2000, 20_000) },
    );
  });

  /** A hundred blocks of a hundred stations each, a tenth of a degree apart. */
  const listOf = () => {
    const list = createBlockList();
    const cache = createBlockCache(1 << 24);
    const blockOf = (n: number) =>
      joinBlock(
        Array.from({ length: 100 }, (_, i) => {
          const lat = 50 + Math.floor(n / 10) + Math.floor(i / 10) / 10;
          const lon = 30 + (n % 10) + (i % 10) / 10;
          const row = {
            id: `n${n * 100 + i}`,
            lat,
            lon,
            brand: "",
            name: "",
            addr: "",
            ...noSales,
          };
          const rest = { seq: 1, at: startMs, removed: false, state: emptyState, chance: null };
          const fuel = view(emptyState, startMs, lifetimeMs);
          return renderStation(n * 100 + i, { ...row, ...rest }, { brand: 0, hours: 0 }, fuel, "");
        }),
        cache,
        true,
      );
    list.set(Array.from({ length: 100 }, (_, n) => measured(blockOf(n)) as Leaf));
    return list;
  };
  const byId = (a: number, b: number): number => a - b;

  it("are found without a look at blocks farther than the last one kept", () => {
    const list = listOf();
    const box = { south: 50, west: 30, north: 60, east: 40 };
    const area = { kind: "box" as const, box };
    const looked = new Set<Block>();
    const matcher = (block: Block): Uint8Array => {
      looked.add(block);
      return new Uint8Array(block.stations.length).fill(1);
    };
    const some = findNearest(list, { area, matcher, limit: 500, byId });
    expect([some.kept.slots.length, some.truncated]).to.deep.equal([500, true]);
    expect(looked.size).to.be.within(5, 20);
    // All are looked at where nothing is cut.
    looked.clear();
    const all = findNearest(list, { area, matcher, limit: 10_000, byId });
    expect([all.kept.slots.length, all.truncated, looked.size]).to.deep.equal([10_000, false, 100]);
    expect(slice(all.kept, 0, 500)).to.deep.equal(some.kept);
  });

  it("are put in order by distance, then id, also where many are equally far or nearly so", () => {
    const distance = fc.oneof(
      fc.constantFrom(0, 5, 20_015_086),
      fc.double({ min: 5, max: 5.05, noNaN: true }),
      fc.double({ min: 0, max: 20_015_086, noNaN: true }),
    );
    fc.assert(
      fc.property(fc.array(distance, { maxLength: 200 }), (distances) => {
        const idOf = (place: number): number => (place * 7) % 211;
        const byTie = (a: number, b: number): number => idOf(a) - idOf(b);
        const expected = [...distances.keys()].sort(
          (a, b) => distances[a]! - distances[b]! || byTie(a, b),
        );
        expect([...orderByDistance(distances, byTie)]).to.deep.equal(expected);
      }),
    );
  });
});
