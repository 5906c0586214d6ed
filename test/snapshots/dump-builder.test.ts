import { noSales } from "#src/domain/vocabulary.ts";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import * as zlib from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { brotliEnd, brotliOf } from "#snapshots/dumps/brotli-stitch.ts";
import { chunksOf, createChunkPacker } from "#snapshots/dumps/chunks.ts";
import { createDumpBuilder, longestPage } from "#snapshots/dumps/dump.ts";
import { listHead, readCursor } from "#snapshots/model/forms.ts";
import { filtersKey } from "#snapshots/model/filters.ts";
import { gzipMember } from "#snapshots/model/gzip-stitch.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { copyInOrder } from "#snapshots/model/area-selection.ts";
import { emptyState } from "#src/domain/state.ts";
import type { FeedRow } from "#src/feed/feed.ts";
import { sized } from "#test/harness/long.ts";

const row = (n: number, name = ""): FeedRow => ({
  ...{ id: `s${String(n).padStart(6, "0")}`, lat: (n % 170) / 2, lon: (n * 7) % 180 },
  ...{ brand: `Б${n % 5}`, name: `АЗС № ${n} ${name}`, addr: `улица ${n % 90}, ${n % 13}` },
  ...noSales,
  ...{ seq: n + 1, at: 0, removed: false, state: emptyState, chance: null },
});
const modelOf = (count: number) => {
  const model = createReadModel({ lifetimeMs: 1000 });
  model.apply(
    Array.from({ length: count }, (_, n) => row(n)),
    0,
  );
  return model;
};
const source = (model: ReturnType<typeof modelOf>, now: number) => ({
  ...{ model, seq: 1, asOfMs: now, now, lifetimeMs: 86_400_000 },
});
const stationsOf = (model: ReturnType<typeof modelOf>) =>
  model.page({ after: "", limit: Infinity, now: 0 }).stations();

describe("dump builder", () => {
  it("writes what the model holds, after any changes, for both encodings", async () => {
    const edits = fc.array(
      fc.record({
        put: fc.array(fc.nat({ max: 3000 }), { maxLength: 20 }),
        remove: fc.array(fc.nat({ max: 3000 }), { maxLength: 20 }),
      }),
      { minLength: 1, maxLength: 6 },
    );
    const property = fc.asyncProperty(fc.nat({ max: 2000 }), edits, async (count, changes) => {
      const model = modelOf(count);
      const builder = createDumpBuilder();
      for (const [n, { put, remove }] of [{ put: [], remove: [] }, ...changes].entries()) {
        model.apply(
          [
            ...put.map((one) => row(one, `change ${n}`)),
            ...remove.map((one) => ({ ...row(one), removed: true })),
          ],
          0,
        );
        const { gzip, br } = await builder.build(source(model, 1000 * n), true);
        const json = gunzipSync(gzip).toString();
        expect(brotliDecompressSync(br).toString()).to.equal(json);
        const parsed = JSON.parse(json) as { stations: object[]; as_of: string };
        const stations = copyInOrder(stationsOf(model)).subarray(0, -1).toString();
        expect(JSON.stringify(parsed.stations)).to.equal(`[${stations}]`);
        expect(parsed.as_of).to.equal(`1970-01-01 00:00:0${n}`);
      }
    });
    await fc.assert(property, { numRuns: sized(8, 300) });
  });

  it("compresses nothing while only time passes, and only the changed chunks later", async () => {
    const model = modelOf(6000);
    const chunks = chunksOf(stationsOf(model));
    const builder = createDumpBuilder();
    const first = await builder.build(source(model, 1000), true);
    const { page } = model;
    model.page = () => {
      throw new Error("the list was read again");
    };
    const later = await builder.build(source(model, 9000), true);
    model.page = page;
    expect(later.br.equals(first.br)).to.equal(false);
    expect(gunzipSync(later.gzip).toString()).to.include('"as_of":"1970-01-01 00:00:09"');
    expect(brotliDecompressSync(later.br).toString()).to.equal(gunzipSync(later.gzip).toString());

    const pack = createChunkPacker();
    const before = await pack(chunks);
    model.apply([row(3000, "changed")], 0);
    const after = await pack(chunksOf(stationsOf(model)));
    const kept = after.blocks.filter((block) => before.blocks.includes(block));
    expect(chunks.length).to.be.greaterThan(10);
    // The one with the change and the one behind it, which may refer to it.
    expect(chunks.length - kept.length).to.equal(2);
  });

  it("holds the longest page of a larger country, and the cursor of the next one", async () => {
    const model = modelOf(9);
    const { page } = model;
    model.page = (query) => page({ ...query, limit: query.limit - longestPage + 4 });
    const { gzip, count } = await createDumpBuilder().build(source(model, 0), false);
    const written = JSON.parse(gunzipSync(gzip).toString()) as Record<string, unknown>;
    expect(count).to.equal(9);
    expect(written["count"]).to.equal(4);
    expect(written["stations"]).to.have.length(4);
    expect(readCursor(written["next_cursor"] as string, filtersKey({}))?.after).to.equal("s000003");
  });

  it("takes hardly more bytes than one stream", async () => {
    const model = modelOf(6000);
    const { gzip, br } = await createDumpBuilder().build(source(model, 0), true);
    const plain = gunzipSync(gzip);
    const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 };
    expect(gzip.length).to.be.below(1.03 * zlib.gzipSync(plain, { level: 6 }).length);
    expect(br.length).to.be.below(1.03 * zlib.brotliCompressSync(plain, { params }).length);
  });

  it("ends a flushed brotli stream with any text", async () => {
    const stations = stationsOf(modelOf(300));
    const start = await brotliOf(listHead, chunksOf(stations));
    const begun = Buffer.concat([listHead, copyInOrder(stations).subarray(0, -1)]);
    const lengths = fc.oneof(
      fc.nat({ max: 300 }),
      fc.constantFrom(0xfffe, 0xffff, 0x10000, 0x10001, 200_000),
    );
    const property = fc.property(lengths, fc.nat({ max: 255 }), (length, seed) => {
      const tail = Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + seed) % 256));
      const whole = brotliDecompressSync(Buffer.concat([start, brotliEnd(tail)]));
      expect(whole.equals(Buffer.concat([begun, tail]))).to.equal(true);
    });
    fc.assert(property, { numRuns: 60 });
  });

  it("writes one gzip member of an empty list", async () => {
    const packed = await createChunkPacker()(chunksOf(stationsOf(modelOf(0))));
    const all = Buffer.concat(gzipMember(listHead, packed, Buffer.from("]}")));
    expect(gunzipSync(all).toString()).to.equal('{"stations":[]}');
  });
});
