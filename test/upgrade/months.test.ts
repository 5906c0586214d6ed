import { expect } from "chai";
import pg from "pg";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, type Db, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { migrate } from "#src/infrastructure/migrate.ts";
import { dayMs } from "#src/domain/units.ts";
import { oldestDay, tablesUntil } from "#src/marks/mark-tables.ts";
import { firstIdOfDay } from "#src/marks/marks.ts";
import { migrations } from "#migrations/list.ts";
import { until } from "#test/flow/client.ts";
import { createBareDatabase, type TestDatabase } from "#test/harness/database.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { sized } from "#test/harness/long.ts";
import { dropMarks } from "#workers/upkeep/partitions.ts";

const days = sized(70, 420);
const marksADay = sized(100, 4762);
const earlierNames = Object.keys(migrations).filter((name) => name < "0056");
const today = Math.floor(Date.now() / dayMs);

describe("upgrade: marks move from tables of a day into tables of a month", function () {
  this.timeout(900_000);
  const log = createLog({ logLevel: "silent" }, "test");
  let instance: TestInstance;
  let database: TestDatabase;
  let db: Db;
  let client: pg.Client;
  let other: pg.Client;

  before(async () => {
    instance = await createTestInstance();
    database = await createBareDatabase();
    db = createDb(loadConfig({ ...instance.env, DATABASE_URL: database.databaseUrl }), "test");
    const earlier = {
      getMigrations: () => Promise.resolve(earlierNames),
      getMigrationName: (name: string) => name,
      getMigration: (name: string) => Promise.resolve(migrations[name]!),
    };
    await db.migrate.latest({ migrationSource: earlier });
    [client, other] = (await Promise.all(
      [1, 2].map(async () => {
        const made = new pg.Client({ connectionString: database.databaseUrl });
        await made.connect();
        return made;
      }),
    )) as [pg.Client, pg.Client];
    for (let from = days; from > 0; from -= 20)
      await client.query("select ensure_mark_partitions(current_date - $1::int, 20)", [from]);
    await client.query(
      `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule, processed_at, outcome)
       select ((current_date - ago - date '1970-01-01')::bigint << 32) + 1e9::bigint + n, 'n' || n, n, 'partner', 'yes',
         now() - ago * interval '1 day', now() - ago * interval '1 day', false, 1, 'geolocated', now(), 'published'
       from generate_series(1, ${days}) ago, generate_series(1, ${marksADay}) n`,
    );
    await client.query("vacuum analyze marks");
  });
  after(async () => {
    await Promise.all([client?.end(), other?.end()]);
    await db?.destroy();
    await database?.drop();
    await instance?.drop();
  });

  const content = async (where: string): Promise<unknown> =>
    (
      await client.query(
        `select count(*)::int as count, sum(hashtextextended(marks::text, 0)) as content from marks where ${where}`,
      )
    ).rows[0];
  const old = `id < ${firstIdOfDay(today * dayMs)}`;
  const names = async (): Promise<string[]> =>
    (await tablesUntil(db, Number.POSITIVE_INFINITY)).map(({ name }) => name);

  it("loses and doubles none while marks come, wait and are processed, and a backup reads all", async () => {
    const was = await content(old);
    // As pg_dump holds its locks.
    await other.query("begin isolation level repeatable read; select count(*) from marks");
    let isOver = false;
    let longest = 0;
    const sent: string[] = [];
    const sending = (async () => {
      while (!isOver) {
        const at = performance.now();
        const made = await client.query<{ id: string }>(
          `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule)
           values (next_mark_id(now()), 'n1', 1, 'partner', 'no', now(), now(), false, 1, 'geolocated') returning id`,
        );
        const { id } = made.rows[0]!;
        sent.push(id);
        await client.query(
          "update marks set processed_at = now(), outcome = 'published' where id = $1 and processed_at is null",
          [id],
        );
        longest = Math.max(longest, performance.now() - at);
      }
    })();
    const startedAt = performance.now();
    const migrating = migrate(db, log).finally(() => (isOver = true));
    const trying =
      "select from pg_locks where mode = 'AccessExclusiveLock' and not granted and relation = 'marks'::regclass";
    await until(
      () => rows(db, trying),
      (found) => found.length > 0,
    );
    const heldUp = sent.length;
    await until(
      async () => sent.length,
      (count) => count > heldUp + 20,
    );
    await other.query("commit");
    const releasedAt = performance.now();
    await migrating;
    const done = performance.now();
    await sending;
    console.log(
      `      ${days * marksADay} marks in ${((done - startedAt) / 1000).toFixed(1)} s, ${((done - releasedAt) / 1000).toFixed(1)} s of them after the backup; longest wait of ${sent.length} marks and their outcomes ${longest.toFixed(0)} ms`,
    );
    expect(await content(old)).to.deep.equal(was);
    expect(await content("processed_at is null")).to.include({ count: 0 });
    const stored = await client.query<{ id: string }>(
      `select id from marks where id >= ${firstIdOfDay(today * dayMs)} order by id`,
    );
    expect(stored.rows.map(({ id }) => id)).to.deep.equal(sent);
  });

  it("leaves tables of months, and of the days that were too young", async () => {
    const found = await names();
    const ofDays = found.filter((name) => name.length > 12);
    expect(ofDays.length).to.be.within(6, 14);
    expect(found.length - ofDays.length).to.be.within(days / 32, days / 27 + 2);
    const copied = await client.query<{ count: number }>(
      `select count(*)::int as count from marks where id < ${firstIdOfDay((today - 35) * dayMs)} and tableoid::regclass::text !~ '^marks_[0-9]{6}$'`,
    );
    expect(copied.rows[0]!.count).to.equal(0);
  });

  it("lists each day for processes of the version before, which cannot take one off", async () => {
    await rows(db, "delete from open_days where day < current_date - 3");
    const listed = `select from open_days where day between current_date - ${days} and current_date + 3`;
    expect(await rows(db, listed)).to.have.length(days + 4);
  });

  it("makes the month after the last day that has a table, and again what is missing between", async () => {
    const made = async (from: string, count: number): Promise<number> =>
      (
        await rows<{ made: number }>(db, `select ensure_mark_partitions(${from}, ?) as made`, [
          count,
        ])
      )[0]!.made;
    const count = (await names()).length;
    expect(await made("current_date", 40)).to.be.within(1, 3);
    expect(await made("current_date", 40)).to.equal(0);
    expect(await made("current_date + 400", 1)).to.equal(1);
    const gone = (await names()).find((name) => name.length > 12)!;
    await client.query(`drop table ${gone}`);
    const day = gone.slice(6);
    expect(await made(`to_date('${day}', 'YYYYMMDD')`, 1)).to.equal(1);
    expect((await names()).length).to.be.within(count + 2, count + 4);
  });

  it("deletes by the day what is past its retention, and drops whole tables", async () => {
    const keptFrom = new Date((today - 20) * dayMs);
    keptFrom.setUTCDate(15);
    if (keptFrom.getTime() > (today - 20) * dayMs) keptFrom.setUTCMonth(keptFrom.getUTCMonth() - 1);
    const from = firstIdOfDay(keptFrom.getTime());
    const kept = await content(`id >= ${from}`);
    const startedAt = performance.now();
    await dropMarks(
      {
        config: loadConfig({ ...instance.env, DATABASE_URL: database.databaseUrl }),
        log,
        clock: Date.now,
      },
      keptFrom.getTime(),
    );
    console.log(
      `      retention of the rest: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    );
    expect(await content("true")).to.deep.equal(kept);
    expect(await oldestDay(db)).to.equal(keptFrom.getTime());
    const [oldest] = await names();
    expect(oldest).to.equal(`marks_${keptFrom.toISOString().slice(0, 7).replace("-", "")}`);
  });
});
