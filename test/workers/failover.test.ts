import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { runOperator } from "#test/harness/operator.ts";
import { followFailover } from "#workers/upkeep/failover.ts";

const log = createLog({ logLevel: "silent" }, "test");

describe("worker: a database that is another one than before", function () {
  let instance: TestInstance;
  let country: Country;
  let redis: ReturnType<typeof createRedis>;
  before(async () => {
    instance = await createTestInstance();
    country = await openCountry(instance.config, 5);
    redis = createRedis(instance.config, log);
  });
  after(async () => {
    redis?.disconnect();
    await country?.close();
    await instance?.drop();
  });

  const follow = () => followFailover({ db: country.db, config: instance.config, log, redis });
  const numbers = async () => {
    const found = await rows<{ seq: number }>(country.db, "select seq from changes order by seq");
    return found.map(({ seq }) => seq);
  };
  const set = (column: string, value: string) =>
    rows(country.db, `update database_identity set ${column} = ?`, [value]);

  it("is left alone as long as server and timeline are the same", async () => {
    const before = await numbers();
    expect(await follow()).to.equal(0);
    expect(await numbers()).to.deep.equal(before);
  });

  for (const [column, value] of [
    ["timeline", "0000000A"],
    ["system_identifier", "7000000000000000001"],
  ] as const)
    it(`has all its stations marked as changed, by one process and once, when its ${column} is another`, async () => {
      const before = await numbers();
      await set(column, value);
      const done = await Promise.all([follow(), follow(), follow()]);
      expect(done.sort()).to.deep.equal([0, 0, 5]);
      expect((await numbers())[0]).to.be.greaterThan(before.at(-1)! + 1e8);
      expect(await follow()).to.equal(0);
      const sql =
        "select details from operator_log where action = 'database.failover' and actor = 'upkeep' order by id desc";
      const [entry] = await rows<{ details: { stations: number } }>(country.db, sql);
      expect(entry!.details.stations).to.equal(5);
    });

  it("is noted by an operator's `database restored` as well", async () => {
    await set("timeline", "0000000B");
    await runOperator(instance.env, "database", "restored", "--json");
    expect(await follow()).to.equal(0);
  });
});
