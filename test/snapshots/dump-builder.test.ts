import { noSales } from "#src/domain/vocabulary.ts";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { createDumpBuilder, longestPage } from "#snapshots/dumps/dump.ts";
import { readCursor } from "#snapshots/model/forms.ts";
import { filtersKey } from "#snapshots/model/filters.ts";
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

  it("reads nothing again while only time passes, unless for brotli", async () => {
    const model = modelOf(6000);
    const builder = createDumpBuilder();
    await builder.build(source(model, 1000), false);
    const { page } = model;
    model.page = () => {
      throw new Error("the list was read again");
    };
    const later = await builder.build(source(model, 9000), false);
    model.page = page;
    expect(gunzipSync(later.gzip).toString()).to.include('"as_of":"1970-01-01 00:00:09"');
    const { gzip, br } = await builder.build(source(model, 10_000), true);
    expect(brotliDecompressSync(br).toString()).to.equal(gunzipSync(gzip).toString());
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
});
