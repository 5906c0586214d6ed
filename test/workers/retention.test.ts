import { expect } from "chai";
import pg from "pg";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis, type Redis } from "#src/infrastructure/redis.ts";
import { until } from "#test/flow/client.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { retire } from "#workers/upkeep/retention.ts";

const short = { lockTimeoutMs: 300, queryTimeoutMs: 60_000 };
const long = { lockTimeoutMs: 60_000, queryTimeoutMs: 60_000 };

describe("worker: retention", function () {
  this.timeout(120_000);
  let instance: TestInstance;
  let country: Country;
  let redis: Redis;
  let other: pg.Client;
  let trusted = true;

  before(async () => {
    instance = await createTestInstance({ RETENTION_DAYS: "8" });
    country = await openCountry(instance.config, 1);
    redis = createRedis(instance.config, createLog({ logLevel: "silent" }, "test"));
    await until(
      async () => redis.status,
      (status) => status === "ready",
    );
  });
  beforeEach(async () => {
    other = new pg.Client({ connectionString: instance.databaseUrl });
    await other.connect();
    await rows(country.db, "select ensure_mark_partitions(current_date - 30, 3)");
  });
  afterEach(() => other.end());
  after(async () => {
    redis?.disconnect();
    await country?.close();
    await instance?.drop();
  });

  const run = (patience = short): Promise<void> => {
    const { config } = instance;
    const log = createLog({ logLevel: "silent" }, "test");
    return retire(
      { db: country.db, config, log, redis, time: { isTrusted: () => trusted } },
      patience,
    );
  };
  /** What is there of the tables of old days: attached, pending, detached. */
  const old = async (): Promise<string[]> => {
    const found = await rows<{ state: string }>(
      country.db,
      `select case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'pending' else 'attached' end
         as state
       from pg_class c left join pg_inherits i on i.inhrelid = c.oid
       where c.relname ~ '^marks_[0-9]+$' and c.relname < 'marks_' || to_char(current_date - 20, 'YYYYMMDD')
       order by c.relname`,
    );
    return found.map(({ state }) => state);
  };
  /** A row of another table that is past its retention too. */
  const addExternalId = () =>
    rows(
      country.db,
      "insert into mark_keys (partner_id, external_id, mark_id, station_id, at) values (?, 'old', 1, 'n1', now() - interval '32 days')",
      [country.partnerId],
    );
  const externalIds = () => rows(country.db, "select from mark_keys");

  it("drops the partitions that a long transaction read once it has ended, and all else meanwhile", async () => {
    await other.query("begin isolation level repeatable read");
    await other.query("select count(*) from marks");
    await addExternalId();
    await run();
    expect(await old()).to.deep.equal(["pending", "attached", "attached"]);
    expect(await externalIds()).to.deep.equal([]);
    await addExternalId();
    await run();
    expect(await old()).to.deep.equal(["pending", "attached", "attached"]);
    expect(await externalIds()).to.deep.equal([]);
    await other.query("commit");
    await run();
    expect(await old()).to.deep.equal([]);
  });

  it("drops what a run left that ended between detach and drop, and nothing that is not its own", async () => {
    await rows(
      country.db,
      `create table marks_20200101 (id bigint);
       create function hold_drop() returns event_trigger language plpgsql as $$
         begin perform pg_advisory_xact_lock(42); end $$;
       create event trigger hold_drop on ddl_command_start when tag in ('DROP TABLE') execute function hold_drop()`,
    );
    await other.query("select pg_advisory_lock(42)");
    const broken = run(long).then(
      () => "done",
      (error: Error) => error.message,
    );
    const dropping = `select pid from pg_stat_activity where datname = current_database()
      and application_name = 'fuelmark retention' and wait_event_type = 'Lock' and query like 'drop table %'`;
    const [waiting] = await until(
      () => rows<{ pid: number }>(country.db, dropping),
      (found) => found.length > 0,
    );
    // As if the process had died here: the server gives up its connection.
    await rows(country.db, "select pg_terminate_backend(?)", [waiting!.pid]);
    expect(await broken).to.equal("not retired: partitions");
    expect(await old()).to.deep.equal(["detached", "detached", "attached", "attached"]);
    await rows(country.db, "drop event trigger hold_drop");
    await other.query("select pg_advisory_unlock(42)");
    await run();
    expect(await old()).to.deep.equal(["detached"]);
    await rows(country.db, "drop table marks_20200101");
  });

  it("goes on with the other steps when one fails, and says at the end that it did", async () => {
    const [first] = await rows<{ name: string }>(
      country.db,
      "select 'marks_' || to_char(current_date - 30, 'YYYYMMDD') as name",
    );
    await rows(country.db, `create view looked_at as select id from ${first!.name}`);
    await addExternalId();
    const said = await run().then(
      () => "done",
      (error: Error) => error.message,
    );
    expect(said).to.equal("not retired: partitions");
    expect(await old()).to.deep.equal(["detached"]);
    expect(await externalIds()).to.deep.equal([]);
    await rows(country.db, "drop view looked_at");
    await run();
    expect(await old()).to.deep.equal([]);
  });

  it("deletes what is old in batches, and nothing else", async () => {
    await rows(
      country.db,
      `insert into mark_keys (partner_id, external_id, mark_id, station_id, at)
       select ?, 'k' || n, n, 'n1', case when n <= 11000 then now() - interval '32 days' else now() end
       from generate_series(1, 11003) n`,
      [country.partnerId],
    );
    await run();
    expect(await externalIds()).to.have.length(3);
  });

  it("keeps the newest 1,000 deliveries of a webhook besides those that wait, for 30 days", async () => {
    const { db } = country;
    const [made] = await rows<{ id: number }>(
      db,
      "insert into webhook_endpoints (partner_id, url, events, secret) values (?, '', '{}', '') returning id",
      [country.partnerId],
    );
    const add = (count: number, created: string, delivered: string) =>
      rows(
        db,
        `insert into webhook_deliveries (endpoint_id, type, data, created_at, delivered_at)
         select ?, 'webhook.test', '{}', ${created}, ${delivered} from generate_series(1, ?)`,
        [made!.id, count],
      );
    await add(2, "server_now() - interval '31 days'", "null");
    await add(1, "server_now()", "null");
    await add(1003, "server_now()", "server_now()");
    await run();
    const left = await rows(
      db,
      `select count(*) filter (where delivered_at is null) as waiting, count(delivered_at) as taken
       from webhook_deliveries`,
    );
    expect(left).to.deep.equal([{ waiting: 1, taken: 1000 }]);
  });
});
