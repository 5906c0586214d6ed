import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import pg from "pg";
import { createClock } from "#src/infrastructure/clock.ts";
import { createDb, type Db, rows, type Statements } from "#src/infrastructure/db.ts";
import { type FeedRow, readAfter } from "#src/feed/feed.ts";
import { createFollower, type Follower } from "#src/feed/follower.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { writeStations } from "#test/api/reads-country.ts";
import { standStill } from "#test/flow/client.ts";
import { rowsOfPlan } from "#test/harness/statements.ts";
import { useInstance } from "#test/harness/use.ts";

const place = (n: number) => ({ id: `f${n}`, lat: 50 + n / 1000, lon: 30 });
/** More than are given out in one turn, and than one page of the feed holds. */
const count = 300;

describe("a follower of the change feed", function () {
  const instance = useInstance();
  before(async () => {
    await writeStations(
      instance.db,
      Array.from({ length: count }, (_, n) => place(n)),
    );
  });

  const follow = (onRows: (some: FeedRow[]) => void, from: Db = instance.db): Follower =>
    createFollower({
      db: from,
      config: instance.config,
      log: createLog({ logLevel: "silent" }, "test"),
      clock: createClock(instance.config),
      onRows,
    });

  it("keeps as_of and its number behind a change until it is given to onRows, also while it catches up with later ones of the same station", async () => {
    let caughtUp = false;
    const during: [asOf: number, seq: number][] = [];
    const follower = follow(() => {
      if (caughtUp) during.push([follower.asOf(Infinity), follower.seq()]);
    });
    await follower.refresh();
    caughtUp = true;
    await writeStations(instance.db, [place(0)]);
    const [stamp] = (await instance
      .db("changes")
      .where("station_id", "f0")
      .select("at", "seq")) as [{ at: Date; seq: number }];
    // Longer than as_of lags behind by its whole seconds.
    await sleep(3100);
    await writeStations(
      instance.db,
      Array.from({ length: count - 1 }, (_, n) => place(n + 1)),
    );
    await writeStations(instance.db, [place(0)]);
    await follower.refresh();
    expect(during.length).to.be.greaterThan(5);
    for (const [asOf, seq] of during) {
      expect(asOf).to.be.at.most(stamp.at.getTime());
      expect(seq).to.be.below(stamp.seq);
    }
    expect(follower.asOf(Infinity)).to.be.greaterThan(stamp.at.getTime());
    expect(follower.seq()).to.be.greaterThan(stamp.seq);
  });

  it("reads everything also where one statement takes longer than QUERY_TIMEOUT_MS", async () => {
    const { db, config } = instance;
    await rows(db, "alter table stations rename to real_stations");
    // Each station takes 10 ms to read, and the first page waits until all are in order.
    await rows(
      db,
      `create view stations as select s.* from real_stations s,
         lateral (select pg_sleep(0.01) where s.id is not null) z`,
    );
    const hasty = createDb({ ...config, queryTimeoutMs: 1000 }, "hasty");
    const seen = new Set<string>();
    try {
      const follower = follow((some) => some.forEach(({ id }) => seen.add(id)), hasty);
      await follower.refresh();
      expect([follower.loaded(), seen.size]).to.deep.equal([true, count]);
    } finally {
      await hasty.destroy();
      await rows(db, "drop view stations");
      await rows(db, "alter table real_stations rename to stations");
    }
  });

  it("reads everything also where taking stations in is slow", async () => {
    // Postgres ends a transaction that pauses for longer than this.
    const hasty = createDb({ ...instance.config, lockTimeoutMs: 1000 }, "hasty");
    let pauses = 0;
    const follower = follow(() => {
      pauses += 1;
      standStill(1500);
    }, hasty);
    await follower.refresh();
    expect(pauses).to.be.greaterThan(0);
    expect(follower.loaded()).to.equal(true);
    await hasty.destroy();
  });

  it("compares everything when the database's log has a new timeline, though no connection was lost", async () => {
    // A proxy in between keeps the connections while a standby takes over. Here the database says so by itself.
    const [{ name } = { name: "" }] = await rows<{ name: string }>(
      instance.db,
      "select current_database() as name",
    );
    await instance.db.raw("create table fake_timeline as select 1 as number");
    await instance.db
      .raw(`create function public.pg_walfile_name(pg_lsn) returns text language sql as
      $$ select lpad(number::text, 8, '0') from fake_timeline $$`);
    await instance.db.raw("alter database ?? set search_path to public, pg_catalog", [name]);
    const ownDb = createDb(instance.config, "timeline");
    const names: string[] = [];
    let reloads = 0;
    const follower = createFollower({
      ...{ db: ownDb, config: instance.config, clock: createClock(instance.config) },
      log: createLog({ logLevel: "silent" }, "test"),
      onRows: (rows) => names.push(...rows.filter(({ id }) => id === "f7").map((row) => row.name)),
      onReload: () => (reloads += 1),
    });
    try {
      await follower.refresh();
      // The standby gave a number out again that this process has read already.
      await instance.db.raw("update stations set name = 'standby' where id = 'f7'");
      await instance.db.raw(`update changes set seq = 7 where station_id = 'f7'`);
      await follower.refresh();
      expect([names.includes("standby"), reloads]).to.deep.equal([false, 1]);
      await instance.db.raw("update fake_timeline set number = 2");
      await follower.refresh();
      expect([names.at(-1), reloads]).to.deep.equal(["standby", 2]);
    } finally {
      await ownDb.destroy();
    }
  });

  it("probes for each station, also by a plan that was made while none had a status", async () => {
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    const kept: Statements = {
      raw: (sql, values) =>
        client.query({ name: "kept", text: sql.replace("?", "$1"), values: [...values] }),
    };
    try {
      await client.query("delete from station_status");
      await client.query("vacuum analyze");
      await client.query("set plan_cache_mode = force_generic_plan; set enable_seqscan = off");
      const last = (await readAfter(kept, 0, count)).at(-1)!.seq;
      await client.query("insert into station_status (station_id) select id from stations");
      // Postgres 18 counts rows to a hundredth.
      const found = (after: number) => rowsOfPlan(client, `execute kept(${after})`);
      expect(await found(0)).to.include(count);
      expect(Math.max(...(await found(last - 1)))).to.be.at.most(1);
    } finally {
      await client.end();
    }
  });
});
