import { crc32 } from "node:zlib";
import { expect } from "chai";
import { emptyState } from "#src/domain/state.ts";
import { createLedger, createModelSnapshotStore } from "#snapshots/dumps/model-snapshot.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { useRedis } from "#test/harness/use.ts";

describe("model snapshot store", () => {
  const space = useRedis();
  let redis: Redis;

  before(() => void ({ redis } = space));

  const rowOf = (n: number, id = `n"${n}\\`) => ({
    ...{
      id,
      lat: 55,
      lon: 37,
      brand: "Ёлка",
      name: `№ ${n} "A\n"`,
      addr: "加油站 ⛽",
      ...{ grades_sold: "92,ДТ", opening_hours: "Mo-Fr 06:00-22:00" },
    },
    ...{ seq: n, at: n, removed: n % 2 === 0, state: emptyState, chance: null },
    ...(n % 5 === 0 ? { closed: "/2026-12-01 00:00:00" } : {}),
    ...(n % 4 === 0 ? { merged_into: "n1" } : {}),
  });

  it("gives every row back, in any script, however many there are", async () => {
    const store = createModelSnapshotStore(redis, space.redisPrefix, 60_000);
    const ledger = createLedger();
    const rows = Array.from({ length: 2500 }, (_, n) => rowOf(n));
    ledger.apply(rows);
    await store.save({ seq: 4, asOfMs: 1, builtAtMs: 1 }, [], await ledger.packed());
    const sorted = async () => (await store.load())!.rows.toSorted((a, b) => a.seq - b.seq);
    expect(await sorted()).to.deep.equal(rows);
    const changed = rows.map((row) => (row.seq % 3 === 0 ? { ...row, name: "АЗС, 1" } : row));
    ledger.apply(changed.filter(({ name }) => name === "АЗС, 1"));
    await store.save({ seq: 5, asOfMs: 1, builtAtMs: 1 }, [], await ledger.packed());
    expect(await sorted()).to.deep.equal(changed);
    await redis.del(`${space.redisPrefix}:model:5`);
  });

  it("keeps the newest row of each station, however often they change before it is stored", async () => {
    const store = createModelSnapshotStore(redis, space.redisPrefix, 60_000);
    const ledger = createLedger();
    const inOnePart = Array.from({ length: 50_000 }, (_, n) => `s${n}`).filter(
      (id) => crc32(id) % 256 === 7,
    );
    for (let n = 0; n < 20; n += 1) ledger.apply(inOnePart.map((id) => rowOf(n, id)));
    await store.save({ seq: 6, asOfMs: 1, builtAtMs: 1 }, [], await ledger.packed());
    const found = (await store.load())!.rows.map(({ id, seq }) => [id, seq]);
    expect(inOnePart.length).to.be.greaterThan(100);
    expect(found).to.have.deep.members(inOnePart.map((id) => [id, 19]));
    await redis.del(`${space.redisPrefix}:model:5`);
  });
});
