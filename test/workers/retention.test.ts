import { expect } from "chai";
import pg from "pg";
import { createDb, type Db, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis, type Redis } from "#src/infrastructure/redis.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import type { TestInstance } from "#test/harness/instance.ts";
import { runOperator } from "#test/harness/operator.ts";
import { makePartitions } from "#workers/upkeep/partitions.ts";
import { retire } from "#workers/upkeep/retention.ts";
import { useStage } from "#test/flow/stage.ts";

const short = { lockTimeoutMs: 300, queryTimeoutMs: 60_000 };
const long = { lockTimeoutMs: 60_000, queryTimeoutMs: 60_000 };

describe("worker: retention", function () {
  this.timeout(120_000);
  const { instance, country } = useStage(1, [], { RETENTION_DAYS: "8" });
  let redis: Redis;
  let other: pg.Client;
  let trusted = true;

  before(async () => {
    redis = createWorkerRedis(instance.config, createLog({ logLevel: "silent" }, "test"));
  });
  beforeEach(async () => {
    other = new pg.Client({ connectionString: instance.databaseUrl });
    await other.connect();
    await rows(
      country.db,
      `select ensure_mark_partitions((date_trunc('month', current_date) - n * interval '1 month')::date, 1)
       from generate_series(2, 4) n`,
    );
  });
  afterEach(() => other.end());
  after(() => redis?.disconnect());

  const run = (patience = short, db = country.db): Promise<void> => {
    const { config } = instance;
    const log = createLog({ logLevel: "silent" }, "test");
    return retire({ db, config, log, redis, time: { isTrusted: () => trusted } }, patience);
  };
  /** What is there of the tables of old months: attached, pending, detached. */
  const old = async (): Promise<string[]> => {
    const found = await rows<{ state: string }>(
      country.db,
      `select case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'pending' else 'attached' end
         as state
       from pg_class c left join pg_inherits i on i.inhrelid = c.oid
       where c.relname ~ '^marks_[0-9]+$' and c.relname < 'marks_' || to_char(date_trunc('month', current_date) - interval '1 month', 'YYYYMM')
       order by c.relname`,
    );
    return found.map(({ state }) => state);
  };
  /** A row of another table that is past its retention too. */
  const addExternalId = () =>
    rows(
      country.db,
      "insert into mark_keys (partner_id, external_id, mark_id, station_id, at) values (?, 'old', 1, 'n1', now() - interval '10 days')",
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

  it("deletes all rows that are due, however many statements it takes", async () => {
    for (const count of [4999, 5000, 5001]) {
      await rows(
        country.db,
        `insert into mark_keys (partner_id, external_id, mark_id, station_id, at)
         select ?, 'old' || n, n, 'n1', now() - interval '10 days' from generate_series(1, ?::int) n`,
        [country.partnerId, count],
      );
      await run();
      expect(await externalIds()).to.deep.equal([]);
    }
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
      "select 'marks_' || to_char(date_trunc('month', current_date) - interval '4 months', 'YYYYMM') as name",
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
       select ?, 'k' || n, n, 'n1', case when n <= 11000 then now() - interval '10 days' else now() end
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

  it("deletes the days of grades and of the service that nobody shows any more", async () => {
    const { db } = country;
    const days = "(values (101), (100), (99), (90), (89), (1)) d(ago)";
    const ofDay = "(server_now() at time zone 'UTC')::date - ago";
    await rows(
      db,
      `insert into insight_grades (day, looked_at, cities) select ${ofDay}, now(), '{}' from ${days} where ago < 93`,
    );
    await rows(
      db,
      `insert into service_days (day, feed, first_minute, well) select ${ofDay}, 'dumps', 0, 1 from ${days}`,
    );
    await run();
    const left = (table: string) =>
      rows<{ ago: number }>(
        db,
        `select (server_now() at time zone 'UTC')::date - day as ago from ${table} order by 1`,
      ).then((found) => found.map(({ ago }) => ago));
    expect(await left("insight_grades")).to.deep.equal([1, 89]);
    expect(await left("service_days")).to.deep.equal([1, 89, 90, 99, 100]);
  });

  it("counts a million rows at most before it asks, and says that there are more", async () => {
    const { db } = country;
    // Rows that nobody has to write.
    await other.query("alter table service_days rename to away");
    await other.query(
      `create view service_days as select day from generate_series(1, 1000002) n,
         (select (server_now() at time zone 'UTC')::date - 200 as day offset 0) d`,
    );
    await run();
    const [alarm] = await rows<{ details: object }>(
      db,
      "select details from alarms where subject = 'retention days of the service'",
    );
    expect(alarm!.details).to.deep.equal({ more_than: 1_000_000, days: 99 });
    const [asked] = (await runOperator(instance.env, "retention", "show", "--json")).json;
    expect(asked).to.include({ step: "days of the service", count: 1_000_001 });
    const shown = await runOperator(instance.env, "retention", "show");
    expect(shown.out).to.contain("more than 1000000");
    await other.query("drop view service_days; alter table away rename to service_days");
  });

  describe("when the clock of the database is not to be believed", () => {
    const year = 365 * 86_400;
    let ahead: TestInstance["config"];
    let far: Db;
    let added = 1_000_000;
    beforeEach(async () => {
      trusted = true;
      ahead = { ...instance.config, clockOffsetS: year };
      far = createDb(ahead, "test", 2);
      const { db, partnerId } = country;
      await rows(db, "delete from mark_keys");
      await rows(db, "delete from opinions");
      await rows(db, "delete from retention_steps");
      await rows(db, "delete from alarms");
      await rows(
        db,
        `insert into mark_keys (partner_id, external_id, mark_id, station_id, at) values (?, 'new', 1, 'n1', now())`,
        [partnerId],
      );
      await addMark(db);
    });
    afterEach(async () => {
      trusted = true;
      await far.destroy();
    });

    /** A mark of now, by the clock of `db`, with its opinion. */
    const addMark = async (db: Db): Promise<void> => {
      await rows(db, "select ensure_mark_partitions((server_now() at time zone 'UTC')::date, 1)");
      const id = `(((server_now() at time zone 'UTC')::date - date '1970-01-01')::bigint << 32) + ${(added += 1)}`;
      const station = placeOf(0).id;
      await rows(
        db,
        `with r as (insert into reporters (hash, first_seen) values (decode(md5(random()::text) || md5(random()::text), 'hex'), server_now()) returning id),
         m as (insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule, processed_at)
           select ${id}, ?, r.id, 'widget', 'no', server_now(), server_now(), false, 1, 'geolocated', server_now() from r)
         insert into opinions (station_id, reporter_id, mark_id, effective_at, mark)
         select ?, r.id, ${id}, server_now(), '{}' from r`,
        [station, station],
      );
    };
    const counts = async (): Promise<Record<string, number>> => {
      const [found] = await rows<Record<string, number>>(
        country.db,
        `select (select count(*) from marks) as marks, (select count(*) from opinions) as opinions,
           (select count(*) from mark_keys) as keys, (select count(*) from reporters) as reporters`,
      );
      return found!;
    };
    const alarms = () =>
      rows<{ subject: string }>(
        country.db,
        "select subject from alarms where kind = 'deletion-waits' order by 1",
      );
    const operator = async (...args: string[]) => {
      const env = { ...instance.env, CLOCK_OFFSET_S: String(year) };
      return (await runOperator(env, ...args, "--json")).json as { step: string }[];
    };

    it("asks an operator when it is a year ahead, once for each kind, and deletes once what is allowed", async () => {
      await run();
      const before = await counts();
      for (let times = 0; times < 3; times += 1) {
        // Marks that come by the wrong clock prove nothing.
        if (times === 1) await addMark(far);
        await run(short, far);
      }
      const asked = ["external ids", "opinions", "partitions", "positions and comments"];
      const { marks, opinions, keys, reporters } = await counts();
      expect({ marks, opinions, keys, reporters }).to.deep.equal({
        marks: before["marks"]! + 1,
        opinions: before["opinions"]! + 1,
        keys: before["keys"],
        reporters: before["reporters"]! + 1,
      });
      expect((await alarms()).map(({ subject }) => subject)).to.include.members(
        asked.map((step) => `retention ${step}`),
      );
      const shown = await operator("retention", "show");
      expect(shown.map(({ step }) => step)).to.include.members(asked);
      await operator("retention", "allow", "external", "ids");
      await run(short, far);
      expect((await counts())["keys"]).to.equal(0);
      expect((await counts())["opinions"]).to.equal(opinions);
      expect((await operator("retention", "show")).map(({ step }) => step)).to.not.include(
        "external ids",
      );
      // When the clock is right again, nothing waits and nothing is due.
      await run();
      expect(await rows(country.db, "select from retention_steps where asked_at is not null")).to.be
        .empty;
      expect((await counts())["opinions"]).to.equal(opinions);
    });

    it("asks after 32 days ahead too, when all that there is came today", async () => {
      await run();
      const before = await counts();
      const near = createDb({ ...instance.config, clockOffsetS: 32 * 86_400 }, "test", 2);
      try {
        await run(short, near);
        await run(short, near);
      } finally {
        await near.destroy();
      }
      expect(await counts()).to.deep.equal(before);
    });

    it("deletes nothing, and asks nobody, while the clocks are not trusted", async () => {
      await addExternalId();
      trusted = false;
      await run(short, far);
      expect(await externalIds()).to.have.length(2);
      expect(await alarms()).to.deep.equal([]);
    });

    it("deletes as usual in a country without marks for months, and asks after days without upkeep", async () => {
      const { db } = country;
      await rows(db, "update changes set at = now() - interval '100 days'");
      await addExternalId();
      const note = (ago: string) =>
        rows(
          db,
          `insert into retention_steps (step, done_at) values ('external ids', now() - ?::interval)
           on conflict (step) do update set done_at = excluded.done_at`,
          [ago],
        );
      await note("4 days");
      await run();
      expect(await externalIds()).to.have.length(2);
      await note("2 hours");
      await run();
      expect(await externalIds()).to.have.length(1);
    });

    it("makes a week of partitions by it and no more", async () => {
      const made = await makePartitions({
        db: far,
        time: { isTrusted: () => trusted },
      });
      expect(made).to.be.at.most(8);
      trusted = false;
      expect(await makePartitions({ db: far, time: { isTrusted: () => trusted } })).to.equal(0);
    });
  });
});
