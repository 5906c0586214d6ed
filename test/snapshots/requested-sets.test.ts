import { expect } from "chai";
import fc from "fast-check";
import { createRequestedSets } from "#snapshots/dumps/requested-sets.ts";
import { type Filters, filtersKey, filtersOf } from "#snapshots/model/filters.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { filters } from "#test/snapshots/arbitraries.ts";
import { useRedis } from "#test/harness/use.ts";

const minuteMs = 60_000;

describe("sets asked for", () => {
  const space = useRedis();
  let redis: Redis;
  let prefixes = 0;

  before(() => void ({ redis } = space));

  const set = (brand: string, limit = 10_000) => ({ filters: { brand }, limit });
  /** Two web processes and the worker, by a clock of their own. */
  const open = (most = 100) => {
    const prefix = `${space.redisPrefix}${prefixes++}`;
    const [one, two] = [
      createRequestedSets(redis, prefix, most),
      createRequestedSets(redis, prefix, most),
    ];
    const brandsAt = async (now: number) =>
      (await one.kept(now)).map(({ filters }) => filters.brand);
    return { one, two, brandsAt };
  };

  it("are told apart by every filter that a request can have", () => {
    const named = (given: Filters): string[] =>
      Object.entries(given)
        .filter(([, value]) => value !== false && value.length !== 0)
        .map(([name]) => name)
        .sort();
    const read = (given: Filters): Filters => filtersOf(filtersKey(given));
    fc.assert(
      fc.property(
        filters,
        ({ mayHave: _ofPages, ...given }) =>
          void expect(named(read(given))).to.deep.equal(named(given)),
      ),
    );
  });

  it("are kept from the second request within ten minutes, until ten minutes after the last", async () => {
    const { one, brandsAt } = open();
    one.note(set("a"), 0);
    await one.flush();
    expect(await brandsAt(1)).to.deep.equal([]);
    // Too late for the first one: it counts as a first one itself.
    one.note(set("a"), 10 * minuteMs + 1);
    await one.flush();
    expect(await brandsAt(10 * minuteMs + 2)).to.deep.equal([]);
    one.note(set("a"), 20 * minuteMs);
    await one.flush();
    expect(await brandsAt(20 * minuteMs)).to.deep.equal(["a"]);
    one.note(set("a"), 25 * minuteMs);
    await one.flush();
    expect(await brandsAt(35 * minuteMs)).to.deep.equal(["a"]);
    expect(await brandsAt(35 * minuteMs + 1)).to.deep.equal([]);
  });

  it("count the second request again when the first ones are forgotten", async () => {
    const { one, brandsAt } = open();
    for (const at of [0, 1, 60 * minuteMs, 60 * minuteMs + 1]) {
      one.note(set("a"), at);
      await one.flush();
    }
    expect(await brandsAt(60 * minuteMs + 1)).to.deep.equal(["a"]);
  });

  it("count two requests within one look of one process, and of two processes", async () => {
    const { one, two, brandsAt } = open();
    one.note(set("a"), 0);
    one.note(set("a"), 1);
    one.note(set("b"), 2);
    two.note(set("b"), 3);
    await one.flush();
    await two.flush();
    expect(await brandsAt(3)).to.deep.equal(["b", "a"]);
  });

  it("are one set in all spellings, and another one with another page length", async () => {
    const { one, brandsAt } = open();
    one.note({ filters: { brand: "Ёлка", statuses: ["yes", "low"] }, limit: 5 }, 0);
    one.note({ filters: { brand: "ёлка", statuses: ["low", "yes", "low"] }, limit: 5 }, 1);
    one.note({ filters: { brand: "ёлка", statuses: ["low", "yes"] }, limit: 6 }, 2);
    await one.flush();
    expect(await brandsAt(3)).to.have.length(1);
    expect(await one.kept(3)).to.deep.include.members([
      {
        filters: {
          ...{
            statuses: ["low", "yes"],
            grades: [],
            queues: [],
            sold: [],
            priced: false,
            words: [],
          },
          brand: (await brandsAt(3))[0]!,
        },
        limit: 5,
      },
    ]);
  });

  it("are at most as many as the setting says, and single requests displace none of them", async () => {
    const { one, brandsAt } = open(3);
    for (let n = 0; n < 4; n++) for (const at of [0, 1]) one.note(set(`kept${n}`), 2 * n + at);
    await one.flush();
    expect(await brandsAt(100)).to.deep.equal(["kept3", "kept2", "kept1"]);
    for (let n = 0; n < 200; n++) {
      one.note(set(`once${n}`), 100 + n);
      await one.flush();
    }
    expect(await brandsAt(400)).to.deep.equal(["kept3", "kept2", "kept1"]);
    expect(await redis.zcard(`${space.redisPrefix}${prefixes - 1}:sets-once`)).to.equal(30);
  });
});
