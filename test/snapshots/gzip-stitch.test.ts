import { crc32, gunzipSync } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { createListPacker, presentList } from "#api/stations/format.ts";
import { createRandom } from "#demo/country/random.ts";
import { makeStations } from "#demo/country/stations.ts";
import { emptyState } from "#src/domain/state.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import { checkedOf, gzipMember, joinChecked, packPieces } from "#snapshots/model/gzip-stitch.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { sized } from "#test/harness/long.ts";

const now = Date.UTC(2026, 4, 1, 12);
const lifetimeMs = 24 * 3600_000;
const rows = makeStations(createRandom(3), 3000).map((station, n): FeedRow => ({
  ...station,
  seq: n + 1,
  at: now,
  removed: false,
  state: emptyState,
  chance: null,
}));

const box = fc
  .record({
    lat: fc.double({ min: 0, max: 1, noNaN: true }),
    size: fc.double({ min: 0, max: 1, noNaN: true }),
    lon: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ lat, lon, size }) => {
    const [a, b] = [rows[Math.floor(lat * 2999)]!, rows[Math.floor(lon * 2999)]!];
    const reach = size ** 3 * 30;
    return { south: a.lat - reach, north: a.lat + reach, west: b.lon - reach, east: b.lon + reach };
  });
const question = fc.record({
  box: fc.oneof(box, fc.constant({ south: -90, west: -180, north: 90, east: 180 })),
  sorted: fc.boolean(),
  limit: fc.constantFrom(4000, 700),
  change: fc.nat(2999),
});

describe("gzip stitched from blocks", () => {
  it("knows the checksum of joined texts without reading them", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.uint8Array({ maxLength: 70_000, size: "max" }),
        (a, b) => {
          const both = Buffer.concat([a, b]);
          const { crc, length } = joinChecked(checkedOf(Buffer.from(a)), checkedOf(Buffer.from(b)));
          expect([crc, length]).to.deep.equal([crc32(both), both.length]);
        },
      ),
    );
  });

  it("unpacks to the plain answer, whatever whole blocks and runs it holds, while blocks change", async () => {
    const model = createReadModel({ lifetimeMs });
    model.apply(rows, now);
    const lists = createListPacker();
    let seq = rows.length;
    let wholeBlocks = 0;
    await fc.assert(
      fc.asyncProperty(question, async ({ box, sorted, limit, change }) => {
        seq += 1;
        const state = { ...emptyState, lastUpdated: now + seq };
        model.apply(
          [{ ...rows[change]!, seq, at: now + seq, state, name: `${statuses[seq % 4]} ${seq}` }],
          now + seq,
        );
        const area = { kind: "box", box } as const;
        const sort = sorted ? ({ sort: "distance" } as const) : {};
        const found = model.query({ area, limit, ...sort, now: now + seq });
        wholeBlocks += found.pieces().filter(({ block }) => block !== null).length;
        const rest = { count: found.count, asOfMs: now, lifetimeMs, truncated: found.truncated };
        const plain = Buffer.concat(presentList(found.pieces(), rest));
        JSON.parse(plain.toString());
        const etag = JSON.stringify([box, sorted, limit, found.sum]);
        const list = { etag, answer: found, rest, format: "json" } as const;
        for (const time of ["first", "again"]) {
          const packed = Buffer.concat(await lists.gzip(list));
          expect(gunzipSync(packed).equals(plain), time).to.equal(true);
        }
      }),
      { numRuns: sized(60, 150) },
    );
    expect(wholeBlocks).to.be.greaterThan(sized(10, 200));
  });

  it("is one member, also around no station and an envelope longer than a stored block", async () => {
    const head = Buffer.from("[");
    const tail = Buffer.alloc(200_000, "x");
    const packed = Buffer.concat(gzipMember(head, await packPieces([]), tail));
    expect(gunzipSync(packed).toString()).to.equal(`[${tail.toString()}`);
    // Of a second member only its head could follow, and nothing follows.
    expect(packed.indexOf(Buffer.from([0x1f, 0x8b, 8]), 1)).to.equal(-1);
    expect(packed.readUInt32LE(packed.length - 4)).to.equal(tail.length + 1);
  });
});
