import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { importCities } from "#src/import/import-cities.ts";
import { createWorkerRedis, partnerPrefix } from "#src/infrastructure/redis.ts";
import { pendingUsage } from "#src/limits/pending-usage.ts";
import { createFollower } from "#src/feed/follower.ts";
import { claimChances, clearOldLevels, writeLevels } from "#src/feed/chance-levels.ts";
import { beginRun, endRun, wakeDueFeeds } from "#src/import/feeds/feed-runs.ts";
import { applyImportedStatuses } from "#src/import/imported-statuses.ts";
import { saveStations } from "#src/import/apply-stations.ts";
import { createClock } from "#src/infrastructure/clock.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { createKeyStore } from "#src/keys/key-store.ts";
import { hashKey, newKey } from "#src/keys/key-text.ts";
import { decideBatch } from "#src/marks/bulk-decisions.ts";
import { loadHistories, loadRecent } from "#src/marks/histories.ts";
import { dropRuns } from "#src/marks/stored-runs.ts";
import { stationPage } from "#src/marks/station-history.ts";
import { matchAlerts } from "#src/pushes/alerts/matches.ts";
import { claimDelivery, settleDelivery, wakeDue } from "#src/pushes/webhooks/claims.ts";
import { addKey, addPartner } from "#test/api/edge.ts";
import { serving } from "#test/api/reads-country.ts";
import { readWhole } from "#test/harness/lists.ts";
import { sized } from "#test/harness/long.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";
import { crowd } from "#test/workers/busy-station.ts";
import { bodyOf, createStationReader } from "#workers/webhooks/event.ts";
import { settleTransitions } from "#workers/upkeep/transitions.ts";

const most = 2001;
const idOf = (n: number): string => `s${String(n).padStart(5, "0")}`;
const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => idOf(n));
const log = createLog({ logLevel: "silent" }, "test");

/** The sizes at which pieces of work end, before and after (test/README.md). */
describe("work that is done piece by piece", () => {
  const instance = useInstance();
  const folder = useFolder();
  const clock = () => createClock(instance.config)();
  let partner: number;
  before(async () => {
    const { db } = instance;
    partner = await addPartner(db);
    await addKey(db, partner);
    await rows(
      db,
      `insert into stations (id, source, lat, lon, brand, name, addr)
       select id, 'osm', 50 + n / 1000.0, 30, '', id, '' from unnest(?::text[]) with ordinality as u (id, n)`,
      [ids(most)],
    );
    await rows(db, "insert into station_status (station_id) select id from stations");
  });
  /** Only these stations have changed, as a reader of the feed sees it. */
  const stamp = async (count: number): Promise<void> => {
    await rows(instance.db, "truncate changes, time_changes");
    await rows(instance.db, "select feed_stamp(?::text[])", [ids(count)]);
  };

  it("follows the feed, at the first load and afterwards", async () => {
    const { db, config } = instance;
    for (const count of [999, 1000, 1001, 2000]) {
      await stamp(count);
      const seen = new Set<string>();
      const follower = createFollower({
        ...{ db, config, log, clock },
        onRows: (some) => some.forEach(({ id }) => seen.add(id)),
      });
      await follower.refresh();
      expect(seen.size, String(count)).to.equal(count);
      for (const later of [31, 32, 33, 249, 250, 251, 500]) {
        seen.clear();
        await rows(db, "select feed_stamp(?::text[])", [ids(later)]);
        await follower.refresh();
        expect([seen.size, follower.isSettled()]).to.deep.equal([later, true]);
      }
    }
  });

  it("writes what time has changed", async () => {
    const { db, config } = instance;
    const state = JSON.stringify(serving("yes", Date.now() - 25 * 3600_000));
    for (const count of [999, 1000, 1001, 2000]) {
      await rows(
        db,
        `update station_status set state = ?::jsonb, status = 'yes', next_at = server_now() - interval '1 s'
         where station_id = any(?::text[])`,
        [state, ids(count)],
      );
      expect(await settleTransitions({ db, config, log })).to.equal(count);
      const due = "select from station_status where next_at <= server_now() or status <> 'nodata'";
      expect(await rows(db, due)).to.deep.equal([]);
    }
  });

  it("compares the grades of changed stations for drivers' alerts", async () => {
    const { db, config } = instance;
    const state = JSON.stringify(serving("yes", Date.now(), { fuelsNow: ["95"] }));
    await rows(db, "update station_status set state = ?::jsonb, status = 'yes'", [state]);
    for (const count of [499, 500, 501, 1000]) {
      await stamp(count);
      await rows(db, "truncate station_grades");
      await matchAlerts(db, config, clock);
      expect(await rows(db, "select from station_grades")).to.have.length(count);
    }
  });

  it("writes chances, and takes them away", async () => {
    const { db } = instance;
    const holder = "1f0e7a52-6d0b-4a9e-9b1c-2f4a5f0d7c11";
    for (const count of [199, 200, 201, 400]) {
      await claimChances(db, holder);
      const levels = new Map(ids(count).map((id) => [id, 50]));
      expect(await writeLevels(db, holder, levels)).to.have.length(count);
      await rows(db, "update chance_follower set followed_at = server_now() - interval '1 hour'");
      expect(await clearOldLevels(db)).to.equal(count);
      const left = "select from station_status where chance is not null";
      expect(await rows(db, left)).to.deep.equal([]);
    }
  });

  it("tells webhooks of stations and of outcomes, each delivery whole", async () => {
    const { db, config } = instance;
    const read = createStationReader(db, config, clock);
    const [made] = await rows<{ id: number }>(
      db,
      `insert into webhook_endpoints (partner_id, url, events, secret)
       values (?, 'https://x.example/', '{stations.changed,report.processed}', '') returning id`,
      [partner],
    );
    const claim = { claimMs: 60_000, stationsGapMs: 0, mayFail: true };
    const deliveries = async () => {
      const found: { type: string; items: number }[] = [];
      for (;;) {
        const claimed = await claimDelivery(db, made!.id, claim);
        if (claimed === null) return found;
        const { type, data } = claimed.delivery;
        const body = JSON.parse(await bodyOf(db, config, read, claimed, clock()));
        if (type === "stations.changed") {
          const list = readWhole("application/json", JSON.stringify(body.data), null)!;
          expect(list.items.map(({ id }) => id)).to.have.members(data.stations!);
        }
        found.push({ type, items: (data.stations ?? data.marks)!.length });
        const attempt = { status: 204, answer: "", fault: null, durationMs: 1 };
        await settleDelivery(db, claimed, attempt, "taken", Date.now());
      }
    };
    for (const count of [1, 99, 100, 101, 200, 201]) {
      await stamp(count);
      await rows(
        db,
        "insert into webhook_outcomes (endpoint_id, mark_id) select ?, n from generate_series(1, ?::int) n",
        [made!.id, count],
      );
      const right = [...slices(ids(count), 100)].map(({ length }) => length);
      const found = await deliveries();
      for (const type of ["stations.changed", "report.processed"])
        expect(found.filter((one) => one.type === type).map(({ items }) => items)).to.deep.equal(
          right,
        );
    }
  });

  it("drops runs that are over", async () => {
    const { db } = instance;
    for (const count of [999, 1000, 1001, 2000]) {
      await rows(
        db,
        `insert into status_runs (station_id, status, from_at, to_at)
         select id, 'yes', server_now() - interval '9 days', server_now() - interval '8 days' from unnest(?::text[]) id`,
        [ids(count)],
      );
      await dropRuns(db, Date.now() - 86_400_000);
      expect(await rows(db, "select from status_runs")).to.deep.equal([]);
    }
  });

  it("imports stations and statuses", async () => {
    const { db, config } = instance;
    const place = { brand: "", name: "x", addr: "", grades_sold: "", opening_hours: "" };
    for (const count of sized([1000, 1001, 2001], [999, 1000, 1001, 1999, 2000, 2001, 3001])) {
      const stations = Array.from({ length: count }, (_, n) => ({
        ...{ ...place, id: `c${count}-${n}`, lat: 60 + n / 1000, lon: 30 },
      }));
      const save = () => saveStations(db, `c${count}`, { stations }, false, () => {});
      expect(await save()).to.include({ added: count, changed: 0, unchanged: 0 });
      expect(await save()).to.include({ added: 0, changed: 0, unchanged: count });
      const statuses = stations.map(({ id }) => ({
        ...{ stationId: id, status: "no" as const, fuelsNow: [], fuelsNo: [] },
        updated: Date.now() - 60_000,
      }));
      const touched: string[] = [];
      const note = (some: string[]) => void touched.push(...some);
      const apply = () =>
        applyImportedStatuses(db, `c${count}`, statuses as never, config, false, note);
      expect(await apply()).to.include({ added: count, unchanged: 0 });
      expect(await apply()).to.include({ added: 0, unchanged: count });
      expect(new Set(touched).size).to.equal(count);
    }
  });

  it("rolls back the marks of stations", async () => {
    const { db } = instance;
    for (const count of [499, 500, 501, 1000]) {
      const key = await rows<{ id: number }>(
        db,
        "insert into keys (partner_id, kind, prefix, hash) values (?, 'secret', 'x', sha256(?::bytea)) returning id",
        [partner, String(count)],
      );
      await rows(
        db,
        `with r as (
           insert into reporters (hash, first_seen)
           select sha256(convert_to(? || id, 'UTF8')), server_now() from unnest(?::text[]) id returning id)
         insert into marks (id, station_id, reporter_id, source, partner_id, key_id, status, received_at, effective_at,
           remote, needed, rule)
         select next_mark_id(server_now()), s.id, r.id, 'partner', ?, ?, 'yes', server_now(), server_now(), false, 1, 'geolocated'
         from (select id, row_number() over () n from unnest(?::text[]) id) s
         join (select id, row_number() over () n from r) r using (n)`,
        [String(count), ids(count), partner, key[0]!.id, ids(count)],
      );
      const done: number[] = [];
      const decided = await decideBatch(
        ...([db, "olga", "rollback", { key: key[0]!.id } as never] as const),
        (_, reached) => void done.push(reached),
      );
      expect(decided).to.include({ marks: count, stations: count });
      expect(done).to.deep.equal([500, 1000].filter((n) => n < count).concat(count));
    }
  });

  it("shows the marks of a station page by page, and a next page only where there is one", async () => {
    const { db, config } = instance;
    for (const [n, count] of [49, 50, 51, 100].entries()) {
      // Nobody has marked it in the tests before.
      const id = idOf(1500 + n);
      await crowd(db, id, count);
      let [seen, before] = [0, null as number | null];
      for (let pages = 1; ; pages += 1) {
        const page = (await stationPage(db, id, before, config))!;
        expect(page.marks.length).to.be.greaterThan(0);
        seen += page.marks.length;
        before = page.next;
        if (before !== null) continue;
        expect([seen, pages]).to.deep.equal([count, Math.ceil(count / 50)]);
        break;
      }
    }
  });

  it("reads the newest marks of a station, and says whether there are older ones", async () => {
    const { db } = instance;
    const id = idOf(10);
    await rows(db, "delete from marks where station_id = ?", [id]);
    await crowd(db, id, 5);
    const look = async (max: number): Promise<unknown[]> => {
      const read = await loadHistories(db, [id], 0, "processed and waiting", { max });
      const recent = await loadRecent(db, [id], instance.config, clock(), { max });
      const { marks, cutAt, unreadable } = read.get(id)!;
      expect(recent.get(id)!.marks).to.deep.equal(marks);
      return [marks.length, unreadable?.size ?? 0, cutAt !== null];
    };
    expect([await look(4), await look(5), await look(6)]).to.deep.equal([
      [4, 0, true],
      [5, 0, false],
      [5, 0, false],
    ]);
    // Marks that cannot be read were read all the same.
    await rows(
      db,
      `update marks set fuels = '{kerosene}' where id in (
         select id from marks where station_id = ? order by effective_at desc limit 2)`,
      [id],
    );
    expect([await look(1), await look(2), await look(4), await look(5)]).to.deep.equal([
      [0, 1, true],
      [0, 2, true],
      [2, 2, true],
      [3, 2, false],
    ]);
  });

  it("finds the usage of every partner", async () => {
    const { config } = instance;
    const redis = createWorkerRedis(config, log);
    try {
      const { redisPrefix: prefix } = config;
      for (let id = 1; id <= 401; id += 1) {
        const place = partnerPrefix(prefix, id);
        await redis.sadd(`${place}:usage`, `${place}:usage:p${id}:20000`);
        await redis.hset(`${place}:usage:p${id}:20000`, { id: "x", "GET /cities": "1" });
      }
      for (const count of [199, 200, 201, 399, 400, 401]) {
        const partners = Array.from({ length: count }, (_, n) => n + 1);
        expect(await pendingUsage(redis, prefix, partners)).to.have.length(count);
      }
    } finally {
      redis.disconnect();
    }
  });

  it("wakes feeds and webhooks that are due, those that waited longest first, and keeps a feed's newest runs", async () => {
    const { db } = instance;
    await rows(db, "truncate webhook_outcomes, webhook_endpoints cascade");
    await stamp(1);
    const woken: number[] = [];
    const note = async (found: readonly number[]) => void woken.push(...found);
    const producer = { wakeFeeds: note, wakeEndpoints: note } as never;
    const feed =
      "(source, files, every_s, replace_source, alarm_after_s, due_at) select 'csv', '{a}', 60, false, 86400";
    const endpoint = `(partner_id, url, events, secret, change_seq, tried_at)
      select ${partner}, 'https://x.example/', '{stations.changed}', '', 0`;
    for (const [look, most, table, columns] of [
      [() => wakeDueFeeds(db, producer), 1000, "feeds", feed],
      [() => wakeDue(db, producer, 0), 200, "webhook_endpoints", endpoint],
    ] as const)
      for (const count of [most - 1, most, most + 1]) {
        await rows(db, `delete from ${table}`);
        const added = await rows<{ id: number }>(
          db,
          `insert into ${table} ${columns}, server_now() - n * interval '1 s' from generate_series(1, ?::int) n returning id`,
          [count],
        );
        woken.length = 0;
        expect(await look(), `${table} ${count}`).to.equal(Math.min(count, most));
        const due = added.map(({ id }) => id).slice(-most);
        expect(woken).to.have.members(due);
      }
    const [kept] = await rows<{ id: number }>(db, "select id from feeds limit 1");
    for (const count of [199, 200, 201]) {
      await rows(db, "delete from imports");
      await rows(
        db,
        `insert into imports (kind, file, source, replace_source, dry_run, actor, feed_id, state)
         select 'feed', 'a', 'csv', false, false, 'feed', ?, 'unchanged' from generate_series(1, ?::int)`,
        [kept!.id, count - 1],
      );
      await rows(db, "update feeds set due_at = server_now(), run_id = null where id = ?", [
        kept!.id,
      ]);
      await endRun(db, (await beginRun(db, kept!.id))!, { state: "unchanged", seen: null });
      expect(await rows(db, "select from imports")).to.have.length(Math.min(count, 200));
    }
  });

  it("finds all keys that are looked up at once", async () => {
    const { db, config } = instance;
    const keys = createKeyStore({ db, config, log, clock } as never);
    for (const count of [499, 500, 501, 1001]) {
      const texts = Array.from({ length: count }, () => newKey("secret", randomBytes(32)));
      await rows(
        db,
        "insert into keys (partner_id, kind, prefix, hash) select ?, 'secret', 'x', decode(hash, 'hex') from unnest(?::text[]) hash",
        [partner, texts.map(hashKey)],
      );
      const found = await Promise.all(texts.map((text) => keys.find(text)));
      expect(new Set(found.map((key) => key?.id)).size).to.equal(count);
    }
  });

  it("imports cities", async () => {
    const { db } = instance;
    const path = join(folder.path, "cities.tsv");
    for (const count of [999, 1000, 1001]) {
      const lines = Array.from({ length: count }, (_, n) =>
        [count * 10_000 + n, `C${n}`, `C${n}`, "", 50 + n / 1000, 30, "P", "PPL", "RU"]
          .concat([...Array<string>(5).fill(""), 9000, "", 9, "Europe/Moscow", "2026-01-01"])
          .join("\t"),
      );
      await writeFile(path, `${lines.join("\n")}\n`);
      const done = await importCities(db, {
        ...{ path, format: "geonames", actor: "olga", dryRun: false, replaceSource: true },
        ...{ force: [], progress: () => {}, waiting: () => {}, source: `c${count}` },
      } as never);
      expect(done).to.include({ added: count });
    }
  });
});
