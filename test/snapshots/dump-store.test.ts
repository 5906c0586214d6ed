import { noSales } from "#src/domain/vocabulary.ts";
import { expect } from "chai";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Redis } from "#src/infrastructure/redis.ts";
import { emptyState } from "#src/domain/state.ts";
import { createDumpBuilder, type Dump } from "#snapshots/dumps/dump.ts";
import { createDumpStore, type DumpStore } from "#snapshots/dumps/dump-store.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { useRedis } from "#test/harness/use.ts";

describe("dump store", () => {
  const space = useRedis();
  let redis: Redis;
  let store: DumpStore;
  const dump = (seq: number, asOfMs: number, builtAtMs: number, text = "x"): Dump => ({
    seq,
    asOfMs,
    builtAtMs,
    count: 1,
    sum: text,
    gzip: Buffer.from([0, 255, 13, 10]),
    br: Buffer.from(text),
  });

  before(() => {
    ({ redis } = space);
    store = createDumpStore(redis, space.redisPrefix, 60_000);
  });

  it("gives back what was stored, byte for byte", async () => {
    expect(await store.load()).to.equal(null);
    expect(await store.save(dump(5, 1000, 2000))).to.equal(true);
    expect(await store.load()).to.deep.equal(dump(5, 1000, 2000));
    expect(await store.head()).to.deep.include({ seq: 5, asOfMs: 1000, builtAtMs: 2000 });
  });

  it("never replaces a newer dump: by number, then as_of, then time of building", async () => {
    for (const [seq, asOfMs, builtAtMs, kept] of [
      [4, 9000, 9000, false],
      [5, 999, 9000, false],
      [5, 1000, 1999, false],
      [5, 1000, 2000, false],
      [5, 1000, 2001, true],
      [5, 2000, 1000, true],
      [10, 0, 0, true],
      [9, 5000, 5000, false],
    ] as const) {
      const given = dump(seq, asOfMs, builtAtMs, `${seq} ${asOfMs} ${builtAtMs}`);
      expect(await store.save(given), given.sum).to.equal(kept);
      expect((await store.load())?.sum === given.sum).to.equal(kept);
    }
  });

  it("replaces a dump of the future, as a wrong clock leaves it", async () => {
    const now = Date.now();
    const own = createDumpStore(redis, space.redisPrefix, 60_000, "future");
    expect(await own.save(dump(7, now, now + 24 * 3600_000))).to.equal(true);
    expect(await own.save(dump(7, now, now))).to.equal(true);
    expect(await own.save(dump(6, now, now + 1000))).to.equal(false);
  });

  it("builds one envelope of the moment asked for, the same in both encodings", async () => {
    const model = createReadModel({ lifetimeMs: 1000 });
    const row = (id: string) => ({
      ...{ id, lat: 1, lon: 2, brand: "Б", name: "", addr: "", ...noSales },
      ...{ seq: 1, at: 0, removed: false, state: emptyState, chance: null },
    });
    model.apply([row("b"), row("a")], 0);
    const given = { model, seq: 1, asOfMs: 0, now: 0, lifetimeMs: 86_400_000 };
    const building = createDumpBuilder().build(given, true);
    model.apply([row("c")], 0);
    const { gzip, br, count } = await building;
    const json = gunzipSync(gzip).toString();
    expect(brotliDecompressSync(br).toString()).to.equal(json);
    const { stations, ...rest } = JSON.parse(json);
    expect(stations.map(({ id }: { id: string }) => id)).to.deep.equal(["a", "b"]);
    expect(rest).to.deep.equal({
      ...{ count: 2, as_of: "1970-01-01 00:00:00", stale_after_hours: 24 },
      ...{ truncated: false, next_cursor: "" },
    });
    expect(count).to.equal(2);
    const empty = await createDumpBuilder().build(
      { ...given, model: createReadModel({ lifetimeMs: 1 }) },
      true,
    );
    expect(JSON.parse(gunzipSync(empty.gzip).toString()).stations).to.deep.equal([]);
  });
});
