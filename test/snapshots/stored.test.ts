import { noSales } from "#src/domain/vocabulary.ts";
import { expect } from "chai";
import fc from "fast-check";
import { createRequestedSets } from "#snapshots/dumps/requested-sets.ts";
import type { Dump, DumpSet } from "#snapshots/dumps/dump.ts";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import { createLedger, createModelSnapshotStore } from "#snapshots/dumps/model-snapshot.ts";
import { createInsightStore } from "#snapshots/insights/insight-store.ts";
import { createLatestMedians, saveMedians } from "#snapshots/insights/price-medians.ts";
import { createRectangleStore } from "#snapshots/rectangles/rectangle-store.ts";
import { emptyState } from "#src/domain/state.ts";
import { cellOf } from "#src/domain/price-line.ts";
import { checksumOf, createDamageWatch } from "#src/infrastructure/checksum.ts";
import { createLog } from "#src/infrastructure/log.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { createSharedFigures } from "#src/infrastructure/shared-figures.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";
import { createSharedKeys, knownKeys } from "#src/keys/shared-keys.ts";
import { sized } from "#test/harness/long.ts";
import { useRedis } from "#test/harness/use.ts";

/** Something that is stored and read back. */
interface Thing {
  /** The key's end, in Redis. */
  key: string;
  /** Stores version `n`, and answers what a reader must then find. */
  put(n: number): Promise<unknown>;
  /** What a reader finds that has read nothing before; `nothing` when it finds none. */
  read(): Promise<unknown>;
  nothing: unknown;
}

const place = { lat: 55, lon: 37 };
const log = createLog({ logLevel: "silent" }, "test");
const now = Date.now();

/** Each in what a process makes that has just started. */
const things: Record<string, (redis: Redis, prefix: string) => Thing> = {
  dump: (redis, prefix) => dumpThing(redis, prefix, ""),
  "dump of a set": (redis, prefix) => dumpThing(redis, prefix, "some-set"),
  "model snapshot": (redis, prefix) => {
    const store = () => createModelSnapshotStore(redis, prefix, 0);
    return {
      key: ":model:5",
      nothing: null,
      async put(n) {
        const ledger = createLedger();
        const place = { lat: 55, lon: 37, brand: "b", name: "n", addr: "a", ...noSales };
        const change = { seq: n, at: n, removed: false, state: emptyState, chance: null };
        ledger.apply([{ id: `n${n}`, ...place, ...change }]);
        await store().save(versionOf(n), [], await ledger.packed());
        return store().load();
      },
      read: () => store().load(),
    };
  },
  keys: (redis, prefix) => {
    const shared = () => createSharedKeys(redis, prefix);
    return {
      key: ":keys:1",
      nothing: null,
      async put(n) {
        await shared().exchange(knownKeys(n, [[`hash ${n}`, { id: n } as KeyInfo]]), now);
        return shared().exchange(null, now);
      },
      read: () => shared().exchange(null, now),
    };
  },
  insights: (redis, prefix) => {
    const store = () => createInsightStore(redis, prefix);
    return {
      key: ":insights:3",
      nothing: null,
      async put(n) {
        const today = { at: n, cities: {}, lengthMs: n };
        const days = [{ at: n - 1, cities: {} }];
        await store().save(versionOf(n), { cities: [], counts: {}, today }, days);
        return store().load(null);
      },
      read: () => store().load(null),
    };
  },
  medians: (redis, prefix) => ({
    key: ":price-medians:2",
    nothing: {},
    async put(n) {
      await saveMedians(redis, prefix, { [cellOf(place)]: { "95": n } }, now);
      return { "95": n };
    },
    async read() {
      const config = { redisPrefix: prefix, insightsMs: 60_000 };
      const deps = { config: config as never, log, redis, clock: () => now };
      const latest = createLatestMedians(deps);
      await latest.start();
      await latest.stop();
      return latest.at(place);
    },
  }),
  figures: (redis, prefix) => ({
    key: ":figures:2:some",
    nothing: "asked anew",
    async put(n) {
      await redis.unlink(`${prefix}:figures:2:some`);
      return createSharedFigures(redis, prefix)("some", 60_000, () => Promise.resolve({ n }));
    },
    // One that has asked anew writes its answer: what stands there afterwards is no damage any more.
    read: () => createSharedFigures(redis, prefix)("some", 1, () => Promise.resolve("asked anew")),
  }),
  rectangle: (redis, prefix) => {
    const store = () => createRectangleStore(redis, prefix, 1e6);
    const read = async () =>
      (await store().lookUp([{ name: "one", cells: ["4:1:1"] }]))[0]!.rectangle;
    return {
      key: ":rectangle:one",
      nothing: null,
      async put(n) {
        const [{ epoch } = { epoch: "" }] = await store().lookUp([
          { name: "none", cells: ["4:1:1"] },
        ]);
        const facts = { etag: `W/"${n}"`, coding: "gzip" as const, asOfMs: n, endsAt: n };
        const body = Buffer.from(`body ${n}`);
        const rectangle = { ...facts, count: n, truncated: false, epoch, seq: n, body };
        await store().save("one", rectangle, 60_000);
        return read();
      },
      read,
    };
  },
};

const versionOf = (n: number) => ({ seq: n, asOfMs: n * 1000, builtAtMs: n * 1000 });

function dumpThing(redis: Redis, prefix: string, name: string): Thing {
  const store = createDumpStore(redis, prefix, 60_000, name);
  return {
    key: name === "" ? ":dump:5" : `:dump:5:${name}`,
    nothing: null,
    async put(n) {
      const [gzip, br] = [Buffer.from(`gzip ${n}`), Buffer.from(`br ${n}`)];
      const dump: Dump = { ...versionOf(n), count: n, sum: `sum ${n}`, gzip, br };
      expect(await store.save(dump)).to.equal(true);
      return dump;
    },
    read: () => store.load(),
  };
}

describe("what is stored in Redis", () => {
  const space = useRedis();
  let redis: Redis;
  let version = 0;

  before(() => void ({ redis } = space));

  /** What a key holds, a text as its only field. */
  const fieldsOf = async (key: string): Promise<Record<string, Buffer>> =>
    (await redis.type(key)) === "hash"
      ? redis.hgetallBuffer(key)
      : { "": (await redis.getBuffer(key))! };
  const write = async (key: string, fields: Record<string, Buffer>): Promise<void> => {
    const [text] = Object.entries(fields).flatMap(([name, value]) => (name === "" ? [value] : []));
    if (text !== undefined) await redis.set(key, text);
    else if (Object.keys(fields).length > 0) await redis.hset(key, fields);
  };

  /** Picks of a field and of a place in it, each from 0 to 1. */
  const part = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const pick = <T>(list: readonly T[], at: number): T => list[Math.floor(at * list.length)]!;
  const damages = fc.oneof(
    fc.record({ kind: fc.constant("flip" as const), of: part, at: part, bit: fc.nat(7) }),
    fc.record({ kind: fc.constant("cut" as const), of: part, at: part }),
    fc.record({ kind: fc.constant("foreign" as const), of: part, text: fc.string() }),
    fc.record({ kind: fc.constant("lost" as const), of: part }),
    fc.record({ kind: fc.constant("mixed" as const), of: part }),
    fc.record({ kind: fc.constant("moved" as const) }),
    fc.record({ kind: fc.constant("type" as const) }),
  );

  for (const [title, thing] of Object.entries(things))
    it(`is never half believed, and is replaced: ${title}`, async () => {
      const watch = createDamageWatch({ redis, log });
      await fc.assert(
        fc.asyncProperty(damages, async (damage) => {
          const { key: end, put, read, nothing } = thing(redis, space.redisPrefix);
          const key = `${space.redisPrefix}${end}`;
          await redis.unlink(key);
          const before = await put((version += 1));
          const old = await fieldsOf(key);
          const whole = await put((version += 1));
          expect(whole).not.to.deep.equal(nothing);
          expect(await read()).to.deep.equal(whole);
          const fields = await fieldsOf(key);
          // Redis answers the fields of a hash in an order of its own: sorted, each run damages the same ones.
          const name = pick(Object.keys(fields).sort(), "of" in damage ? damage.of : 0);
          const value = fields[name]!;
          await redis.unlink(key);
          if (damage.kind === "flip") {
            const at = Math.floor(damage.at * value.length);
            value[at] = value[at]! ^ (1 << damage.bit);
          } else if (damage.kind === "cut")
            fields[name] = value.subarray(0, Math.floor(damage.at * value.length));
          else if (damage.kind === "foreign") fields[name] = Buffer.from(damage.text);
          else if (damage.kind === "lost") delete fields[name];
          else if (damage.kind === "mixed") fields[name] = old[name]!;
          if (damage.kind === "type") await redis.lpush(key, "foreign");
          else if (damage.kind === "moved") {
            const other = thing(redis, `${space.redisPrefix}other`);
            await other.put((version += 1));
            await write(key, await fieldsOf(`${space.redisPrefix}other${end}`));
          } else await write(key, fields);
          // A text that is replaced by the one before it is that one.
          expect(await read()).to.deep.be.oneOf([whole, before, nothing]);
          const anew = await put((version += 1));
          expect(await read()).to.deep.equal(anew);
        }),
        // The example is told in any case; a damaged epoch or number only makes an entry old.
        { numRuns: sized(60, 150), examples: [[{ kind: "flip", of: 0, at: 0.5, bit: 0 }]] },
      );
      const told = Object.values(watch.counts()).reduce((sum, count) => sum + count, 0);
      expect(told).to.be.greaterThan(0);
      expect(watch.condition().ok).to.equal(false);
    });

  it("has the same checksum of an empty part, whoever has looked at its memory", () => {
    const looked = Buffer.alloc(0);
    expect(looked.buffer.byteLength).to.equal(0);
    expect(checksumOf("key", looked)).to.equal(checksumOf("key", ""));
  });

  it("says nothing of what is whole, or is not there", async () => {
    const watch = createDamageWatch({ redis, log });
    for (const thing of Object.values(things)) {
      const { key, put, read } = thing(redis, space.redisPrefix);
      await put((version += 1));
      await read();
      await redis.unlink(`${space.redisPrefix}${key}`);
      await read();
    }
    expect(Object.values(watch.counts()).every((count) => count === 0)).to.equal(true);
    expect(watch.condition().ok).to.equal(true);
  });

  it("does not let foreign names of sets, or another type in their place, stop anything", async () => {
    const sets = createRequestedSets(redis, space.redisPrefix, 10);
    const set: DumpSet = { filters: { statuses: ["yes"] }, limit: 10 };
    const note = async (): Promise<void> => {
      for (const _ of [1, 2]) sets.note(set, now);
      await sets.flush();
    };
    await note();
    const key = `${space.redisPrefix}:sets-kept`;
    const names = ["", "x", "10", "10 {", "10 []", "x []", '10 [1,[],[],"",false,0,[]]'];
    for (const name of names) await redis.zadd(key, now, name);
    expect((await sets.kept(now)).map(({ limit }) => limit)).to.deep.equal([10]);
    for (const name of ["sets-kept", "sets-once"]) {
      await redis.unlink(`${space.redisPrefix}:${name}`);
      await redis.set(`${space.redisPrefix}:${name}`, "foreign");
    }
    await createRequestedSets(redis, space.redisPrefix, 10).flush();
    expect(await sets.kept(now)).to.deep.equal([]);
    await createRequestedSets(redis, space.redisPrefix, 10).kept(now);
    const other = createRequestedSets(redis, space.redisPrefix, 10);
    for (const _ of [1, 2]) other.note(set, now);
    await other.flush();
    expect(await other.kept(now)).to.have.length(1);
  });
});
