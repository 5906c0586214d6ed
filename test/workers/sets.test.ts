import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { createRequestedSets } from "#snapshots/dumps/requested-sets.ts";
import { type Dump, type DumpSet, setName } from "#snapshots/dumps/dump.ts";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import { fixedSets } from "#snapshots/dumps/fixed-sets.ts";
import type { Filters } from "#snapshots/model/filters.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis, type Redis } from "#src/infrastructure/redis.ts";
import { serving, writeStations } from "#test/api/reads-country.ts";
import { until } from "#test/flow/client.ts";
import { createDumpMaker, type DumpMaker } from "#test/flow/dump-maker.ts";
import { useInstance } from "#test/harness/use.ts";

describe("the dumps that are kept ready", () => {
  const instance = useInstance();
  let redis: Redis;
  let maker: DumpMaker;
  let now = Date.now();
  const start = now;

  before(async () => {
    redis = createWorkerRedis(instance.config, createLog({ logLevel: "silent" }, "test"));
    await writeStations(instance.db, [
      { id: "n1", lat: 55, lon: 37, state: serving("yes", start, { fuelsNow: ["95"] }) },
      { id: "n2", lat: 56, lon: 38, state: serving("no", start) },
      { id: "n3", lat: 57, lon: 39 },
    ]);
    maker = await createDumpMaker(instance, () => now);
  });
  after(async () => {
    await maker?.stop();
    redis?.disconnect();
  });

  const stored = (set: DumpSet): Promise<Dump | null> =>
    createDumpStore(redis, instance.redisPrefix, 0, setName(set)).load();
  const idsIn = (dump: Dump | null): string[] =>
    (JSON.parse(gunzipSync(dump!.gzip).toString()) as { stations: { id: string }[] }).stations.map(
      ({ id }) => id,
    );
  const yes = { filters: { statuses: ["yes" as const] }, limit: 30_000 };

  it("are those of each status and each grade, in gzip, before anybody asks", async () => {
    await maker.make();
    for (const status of ["yes", "low", "no", "queue", "nodata"] as const) {
      const dump = await stored({ filters: { statuses: [status] }, limit: 30_000 });
      expect(idsIn(dump), status).to.deep.equal(
        { yes: ["n1"], no: ["n2"], nodata: ["n3"] }[status as "yes"] ?? [],
      );
      expect(dump!.br.length).to.equal(0);
    }
    for (const grade of ["92", "95", "98", "100", "ДТ"] as const) {
      const dump = await stored({ filters: { grades: [grade] }, limit: 30_000 });
      expect(idsIn(dump), grade).to.deep.equal(grade === "95" ? ["n1"] : []);
    }
    expect(await redis.keys(`${instance.redisPrefix}:dump:*`)).to.have.length(11);
  });

  it("have the default page as a set of its own where the longest one holds more", () => {
    const isLarge = ({ grades }: Filters): boolean => grades?.[0] === "95";
    const sets = fixedSets((filters) => (isLarge(filters) ? 10_001 : 10_000));
    expect(sets.filter(({ limit }) => limit === 10_000)).to.deep.equal([
      { filters: { grades: ["95"] }, limit: 10_000 },
    ]);
    expect(sets).to.have.length(11);
  });

  it("are written again only when they have become old, with a younger as_of", async () => {
    const before = await stored(yes);
    now += 20_000;
    await maker.make();
    expect((await stored(yes))!.builtAtMs).to.equal(before!.builtAtMs);
    now += 40_000;
    await maker.make();
    expect(await stored(yes)).to.include({ builtAtMs: now, sum: before!.sum });
    // `as_of` is the database's time, which the test cannot move.
    const later = await until(
      async () => {
        now += 60_000;
        await maker.make();
        return stored(yes);
      },
      (dump) => dump!.asOfMs > before!.asOfMs,
    );
    expect(later).to.include({ builtAtMs: now, sum: before!.sum });
    expect(idsIn(later)).to.deep.equal(["n1"]);
  });

  it("are also those asked for twice, and these in brotli, as long as they are asked for", async () => {
    const asked = createRequestedSets(redis, instance.redisPrefix, 100);
    const [once, twice] = ["once", "twice"].map((brand) => ({ filters: { brand }, limit: 10 }));
    for (const set of [once!, twice!, twice!, yes, yes]) asked.note(set, now);
    await asked.flush();
    now += 1000;
    await maker.make();
    expect(await stored(once!)).to.equal(null);
    for (const set of [twice!, yes]) {
      const { br, gzip } = (await stored(set))!;
      expect(brotliDecompressSync(br).equals(gunzipSync(gzip))).to.equal(true);
    }
    const { builtAtMs } = (await stored(twice!))!;
    now += 11 * 60_000;
    await maker.make();
    expect((await stored(twice!))!.builtAtMs).to.equal(builtAtMs);
    expect((await stored(yes))!.builtAtMs).to.equal(now);
  });
});
