import { expect } from "chai";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { noteDatabase, recallToken } from "#src/feed/database-identity.ts";
import { createFollower, type Follower } from "#src/feed/follower.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis } from "#src/infrastructure/redis.ts";
import { runOperator } from "#test/harness/operator.ts";
import { followFailover } from "#workers/upkeep/failover.ts";
import { until } from "#test/flow/client.ts";
import { useStage } from "#test/flow/stage.ts";

const log = createLog({ logLevel: "silent" }, "test");

describe("worker: a database that is another one than before", function () {
  const { instance, country } = useStage(5, []);
  let redis: ReturnType<typeof createWorkerRedis>;
  before(() => void (redis = createWorkerRedis(instance.config, log)));
  after(() => redis?.disconnect());

  const follow = () =>
    followFailover({ db: country.db, config: instance.config, log, redis, clock: Date.now });
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
      expect((await numbers())[0]).to.be.greaterThan(before.at(-1)!);
      expect(await follow()).to.equal(0);
      const sql =
        "select details from operator_log where action = 'database.failover' and actor = 'upkeep' order by id desc";
      const [entry] = await rows<{ details: { stations: number } }>(country.db, sql);
      expect(entry!.details.stations).to.equal(5);
    });

  const newest = () => recallToken(redis, instance.config.redisPrefix);
  /** As in a backup: what was made after it is not there. */
  const lose = () =>
    rows(
      country.db,
      "update database_tokens set token = gen_random_uuid() where number = (select max(number) from database_tokens)",
    );
  const stamp = () => rows(country.db, "select feed_stamp(?::text[])", [[country.stationIds[0]!]]);

  it("gets a new token when numbers were given out, and only then", async () => {
    await stamp();
    await follow();
    const first = await newest();
    await follow();
    expect(await newest()).to.deep.equal(first);
    await stamp();
    await follow();
    expect((await newest())!.number).to.equal(first!.number + 1);
  });

  it("has all its stations marked, once, when it does not know the token that Redis remembers", async () => {
    await stamp();
    await follow();
    const before = await numbers();
    await lose();
    expect((await Promise.all([follow(), follow(), follow()])).sort()).to.deep.equal([0, 0, 5]);
    expect((await numbers())[0]).to.be.greaterThan(before.at(-1)!);
    expect(await follow()).to.equal(0);
    const [alarm] = await rows(country.db, "select kind, subject from alarms order by id desc");
    expect(alarm).to.deep.equal({ kind: "database-changed", subject: "an earlier state" });
  });

  it("has them marked, once, when a process remembers a token that it does not know, or a higher number", async () => {
    const follower = () =>
      createFollower({
        ...{ db: country.db, config: instance.config, log, clock: Date.now },
        onRows: () => undefined,
      });
    const forget = () => redis.del(`${instance.config.redisPrefix}:database`);
    const lowered = async (followers: readonly Follower[]) => {
      await rows(country.db, "update changes set seq = seq - 1000000");
      // After a fault a process compares everything.
      await rows(country.db, "alter table database_tokens rename to elsewhere");
      for (const one of followers) await one.refresh().catch(() => undefined);
      await rows(country.db, "alter table elsewhere rename to database_tokens");
    };
    for (const losing of [lose, lowered]) {
      await follow();
      const followers = [follower(), follower()] as const;
      const [one, other] = followers;
      await one.refresh();
      await other.refresh();
      await forget();
      await losing(followers);
      await one.refresh();
      await one.refresh();
      expect(await follow()).to.equal(5);
      // It hears of it later than the marking.
      await other.refresh();
      await one.refresh();
      expect(await follow()).to.equal(0);
      expect(other.seq()).to.equal((await numbers()).at(-1));
    }
  });

  it("has them marked once, and with numbers of its own, each time that the same backup is restored", async () => {
    const tables = ["changes", "database_tokens", "database_identity"];
    for (const table of tables)
      await country.db.raw(`create table backup_of_${table} as table ${table}`);
    const last = "select last_value as seq from change_seq";
    const [kept] = await rows<{ seq: number }>(country.db, last);
    const restore = async (): Promise<void> => {
      for (const table of tables)
        await country.db.raw(`delete from ${table}; insert into ${table} table backup_of_${table}`);
      await rows(country.db, "select setval('change_seq', ?)", [kept!.seq]);
    };
    const given: number[] = [];
    for (let time = 1; time <= 4; time += 1) {
      await stamp();
      await follow();
      await restore();
      expect([await follow(), await follow(), await follow()]).to.deep.equal([5, 0, 0]);
      given.push(...(await numbers()));
    }
    expect(given.toSorted((a, b) => a - b)).to.deep.equal(given);
    expect(new Set(given).size).to.equal(20);
  });

  it("is noted by an operator's `database restored` as well", async () => {
    await set("timeline", "0000000B");
    const waitsSql = `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    // Somebody else, upkeep or an operator, notes it at the same time.
    const { ran } = await inTransaction(country.db, async (tx) => {
      await noteDatabase(tx);
      const ran = runOperator(instance.env, "database", "restored", "--json");
      await until(
        () => rows(country.db, waitsSql),
        (waiting) => waiting.length > 0,
      );
      return { ran };
    });
    expect(await ran).to.include({ code: 0 });
    expect(await follow()).to.equal(0);
  });
});
