import { expect } from "chai";
import { createRandom } from "#demo/country/random.ts";
import { createChances } from "#src/domain/chance/chances.ts";
import { type ChanceNumbers, shippedNumbers } from "#src/domain/chance/numbers.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { clearOldLevels, writeLevels } from "#src/feed/chance-levels.ts";
import { createClock, databaseNow } from "#src/infrastructure/clock.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis, type Redis } from "#src/infrastructure/redis.ts";
import { createServerTime, type ServerTime } from "#src/infrastructure/server-time.ts";
import { rows } from "#src/infrastructure/db.ts";
import { msOf } from "#src/marks/marks.ts";
import { undoDecision } from "#src/marks/undo-decision.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { sized } from "#test/harness/long.ts";
import { processStations } from "#workers/marks/process.ts";
import { type ChanceFollower, createChanceFollower } from "#workers/snapshots/chances.ts";

const log = createLog({ logLevel: "silent" }, "test");
const stationCount = 6;
/** Nothing is learnt of lies, so the chances depend on the marks alone and not on when they were heard. */
const never = { prior: 1e12, window: 1000, most: 0.5 };
const still: ChanceNumbers = {
  ...shippedNumbers,
  shares: { ...shippedNumbers.shares, class: never, source: never, reporter: never },
};
/** Of the test country's stations, in Moscow. */
const aheadMs = 3 * hourMs;

describe("worker: the chances follow the marks", function () {
  const { country, instance, operator } = useStage(stationCount, []);
  let redis: Redis;
  let time: ServerTime;
  before(async () => {
    const { config } = instance;
    redis = createWorkerRedis(config, log);
    time = createServerTime({ config, db: country.db, redis, log });
    await time.start();
  });
  after(async () => {
    await time.stop();
    redis.disconnect();
  });

  const follower = (numbers = still): ChanceFollower =>
    createChanceFollower({ config: instance.config, db: country.db, log, redis, time }, numbers);
  const process = async () => {
    const { config } = instance;
    await processStations({ db: country.db, config, clock: createClock(config), log }, [
      ...country.stationIds,
    ]);
  };
  /** As if its process were gone for a minute. */
  const kill = () =>
    rows(country.db, "update chance_follower set renewed_at = renewed_at - interval '1 minute'");
  const wipe = async () => {
    const keys = await redis.keys(`${instance.redisPrefix}:chances:*`);
    if (keys.length > 0) await redis.del(...keys);
  };
  const levels = async (): Promise<Map<string, number | null>> =>
    new Map(
      (
        await rows<{ id: string; chance: number | null }>(
          country.db,
          "select station_id as id, chance from station_status",
        )
      ).map(({ id, chance }) => [id, chance]),
    );

  /** Stores a mark of the reporter `user`, made so long ago and received now. */
  const say = (
    n: number,
    user: number,
    status: string,
    minutesAgo: number,
    review: "none" | "held" = "none",
  ) =>
    rows(
      country.db,
      `with r as (
         insert into reporters (hash, first_seen) values (sha256(convert_to(?, 'UTF8')), server_now() - ?::int * interval '1 hour')
         on conflict (hash) do update set hash = excluded.hash returning id)
       insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
         review, processed_at, outcome)
       select next_mark_id(server_now()), ?, r.id, 'partner', ?, server_now(), server_now() - ?::float8 * interval '1 minute',
         false, 1, 'geolocated', ?, case when ? = 'held' then server_now() end, case when ? = 'held' then 'held' end from r`,
      [
        ...[`user ${user}`, 60 + user * 3, placeOf(n).id, status, minutesAgo],
        ...[review, review, review],
      ],
    );

  /** Of a run from nothing over all marks that count, read here. */
  const expected = async (at: number): Promise<Map<string, number | null>> => {
    const marks = await rows<{
      id: number;
      stationId: string;
      at: number;
      status: string;
      remote: boolean;
      reporterId: number;
      firstSeen: number;
    }>(
      country.db,
      `select m.id, station_id as "stationId", ${msOf("effective_at")} as at, status, remote,
         reporter_id as "reporterId", ${msOf("first_seen")} as "firstSeen"
       from marks m join reporters r on r.id = reporter_id
       where review in ('none', 'approved') and processed_at is not null`,
    );
    const chances = createChances(still, () => aheadMs);
    chances.take(
      marks.map(({ status, ...one }) => ({
        ...one,
        ...{ fuel: status !== "no", sourceId: null, network: null },
      })),
    );
    return new Map(country.stationIds.map((id) => [id, chances.chanceAt(id, at)]));
  };
  const expectChances = async (of: ChanceFollower, why: string) => {
    const at = (await databaseNow(country.db)) + 30 * minuteMs;
    for (const [id, chance] of await expected(at)) {
      const followed = of.chanceAt(id, at);
      if (chance === null) expect(followed, `${why}, ${id}`).to.equal(null);
      else expect(followed, `${why}, ${id}`).to.be.closeTo(chance, 1e-5);
    }
  };

  it("as if those that were withdrawn had never been, in any order, killed and restarted in between", async function () {
    this.timeout(300_000);
    const random = createRandom(sized(1, Number(globalThis.process.env["TEST_SEED"] ?? 1)));
    // The first of all marks stays, because the rates of all stations count from it.
    await say(0, 99, "yes", 60 * 60);
    let following = follower();
    const done: string[] = [];
    const rollbacks: number[] = [];
    const count = { approved: 0, withdrawn: 0 };
    const somewhere = () => 1 + Math.floor(random.next() * (stationCount - 1));
    const acts: [string, number, () => Promise<unknown>][] = [
      [
        "say",
        8,
        () => {
          const status = random.pick(["yes", "no", "low", "queue"]);
          const review = random.chance(0.2) ? "held" : "none";
          const minutesAgo = random.pick([0, 5, 300, 1200]) + random.next() * 60;
          return say(somewhere(), Math.floor(random.next() * 8), status, minutesAgo, review);
        },
      ],
      ["process", 3, process],
      ["look", 4, () => following.look()],
      [
        "roll back",
        2,
        async () => {
          const { json } = await operator(
            "marks",
            "rollback",
            "--station",
            placeOf(somewhere()).id,
          );
          if (json.id === undefined) return;
          rollbacks.push(json.id as number);
          count.withdrawn += 1;
        },
      ],
      [
        "take back",
        1,
        async () => {
          const id = rollbacks.pop();
          if (id !== undefined) await undoDecision(country.db, "olga", ["rollback"], id, () => {});
        },
      ],
      [
        "approve",
        2,
        async () => {
          const held = await rows<{ id: number }>(
            country.db,
            "select id from marks where review = 'held' order by id limit 1",
          );
          for (const { id } of held) await operator("review", "approve", String(id));
          count.approved += held.length;
        },
      ],
      [
        "kill",
        1,
        async () => {
          await kill();
          following = follower();
        },
      ],
      [
        "restart",
        1,
        async () => {
          await following.stop();
          following = follower();
        },
      ],
      [
        "lose redis",
        0.5,
        async () => {
          await wipe();
          await kill();
          following = follower();
        },
      ],
    ];
    for (let step = 1; step <= sized(100, 1500); step += 1) {
      const [name, , act] = random.weighted(acts.map((one) => [one, one[1]] as const));
      done.push(name);
      await act();
      if (step % 20 !== 0) continue;
      await process();
      await following.look();
      await expectChances(following, done.slice(-20).join(", "));
    }
    expect(Math.min(count.approved, count.withdrawn)).to.be.greaterThan(2);
    const written = await levels();
    for (const id of country.stationIds) {
      const chance = following.chanceAt(id, await databaseNow(country.db));
      const level = written.get(id) ?? null;
      if (chance === null) expect(level).to.equal(null);
      else expect(Math.abs(level! - chance * 100), id).to.be.below(6);
    }
    await following.stop();
  });

  it("one process at a time, the next one from where the last has left off", async () => {
    const [first, second] = [follower(), follower()];
    await first.look();
    await second.look();
    expect(second.chanceAt(placeOf(0).id, Date.now())).to.equal(null);
    await kill();
    await second.look();
    expect(second.chanceAt(placeOf(0).id, Date.now())).to.be.within(0, 1);
    const before = await levels();
    await say(1, 201, before.get(placeOf(1).id)! > 50 ? "no" : "yes", 0);
    await say(1, 202, before.get(placeOf(1).id)! > 50 ? "no" : "yes", 0);
    await process();
    await first.look();
    expect(first.chanceAt(placeOf(0).id, Date.now())).to.equal(null);
    expect(await levels()).to.deep.equal(before);
    await second.look();
    expect((await levels()).get(placeOf(1).id)).not.to.equal(before.get(placeOf(1).id));
    await second.stop();
    await first.look();
    expect(first.chanceAt(placeOf(0).id, Date.now())).to.be.within(0, 1);
    await first.stop();
  });

  it("store the memory again when marks have come, and not without news", async () => {
    const storedAt = async (): Promise<string | null> => {
      const [key] = await redis.keys(`${instance.redisPrefix}:chances:*`);
      return redis.hget(key!, "as_of");
    };
    const first = follower();
    await first.look();
    await first.stop();
    const before = await storedAt();
    const second = follower();
    // The first look is at all stations.
    await second.look();
    expect(await storedAt()).to.equal(before);
    await kill();
    await say(2, 301, "yes", 0);
    await process();
    const third = follower();
    await third.look();
    expect(await storedAt()).not.to.equal(before);
    await third.stop();
  });

  it("writes nothing for a process that has lost its claim", async () => {
    const id = placeOf(1).id;
    const before = await levels();
    const other = "00000000-0000-4000-8000-000000000000";
    expect(await writeLevels(country.db, other, new Map([[id, 35]]))).to.deep.equal([]);
    expect(await levels()).to.deep.equal(before);
  });

  it("are taken away through the feed when nobody has followed for two minutes, and come back", async () => {
    const following = follower();
    await following.look();
    const before = await levels();
    expect(await clearOldLevels(country.db)).to.equal(0);
    expect(await levels()).to.deep.equal(before);
    const [seq] = await rows<{ seq: number }>(country.db, "select max(seq) as seq from changes");
    const away = "update chance_follower set followed_at = server_now() - interval '3 minutes'";
    await rows(country.db, away);
    const known = [...before.values()].filter((level) => level !== null).length;
    expect(known).to.be.greaterThan(0);
    expect(await clearOldLevels(country.db)).to.equal(known);
    expect([...(await levels()).values()]).to.deep.equal([...before.keys()].map(() => null));
    const [later] = await rows<{ count: number }>(
      country.db,
      "select count(*) as count from changes where seq > ?",
      [seq!.seq],
    );
    expect(later!.count).to.equal(known);
    expect(await clearOldLevels(country.db)).to.equal(0);
    await following.stop();
    const next = follower();
    await next.look();
    // Without a level before there is none to stay at.
    for (const [id, level] of await levels())
      if (before.get(id) === null) expect(level, id).to.equal(null);
      else expect(Math.abs(level! - before.get(id)!), id).to.be.at.most(5);
    await next.stop();
  });
});

describe("worker: chances in processes", function () {
  this.timeout(120_000);
  const roles = ["web", "marks", "upkeep", "clock", "snapshots", "snapshots"];
  const { country, client, web, workers } = useStage(3, roles, { CHANCE: "true" });
  const levelAt = async (n: number): Promise<number | null> => {
    const sql = "select chance from station_status where station_id = ?";
    return (
      (await rows<{ chance: number | null }>(country.db, sql, [placeOf(n).id]))[0]?.chance ?? null
    );
  };
  const followers = () =>
    workers.filter(({ lines }) =>
      lines.some((line) => line.includes("chances made from the marks")),
    );
  const stop = async (role: (typeof workers)[number]) => {
    workers.splice(workers.indexOf(role), 1);
    await role.stop();
  };

  it("agree with what a driver who is known has just said, also after the one that follows has stopped", async () => {
    await country.meet("ann", 30 * 24 * 60);
    await country.meet("bob", 20 * 24 * 60);
    await client.mark(placeOf(0), "ann", { status: "yes" });
    await until(
      () => levelAt(0),
      (level) => level !== null && level > 50,
    );
    expect(followers()).to.have.length(1);
    await stop(followers()[0]!);
    await client.mark(placeOf(1), "bob", { status: "no" });
    await until(
      () => levelAt(1),
      (level) => level !== null && level < 50,
    );
    expect(await levelAt(0)).to.be.greaterThan(50);
    expect(await levelAt(2)).to.equal(null);
    const figures = await (await fetch(`${web.baseUrl}/metrics`)).text();
    const figure = (name: string) => Number(figures.split(`\n${name} `)[1]?.split("\n")[0]);
    expect(figure("fuelmark_chance_lag_seconds")).to.be.within(-5, 60);
    expect(figure('fuelmark_chance_steps_total{what="marks"}')).to.be.at.least(1);
    expect(figure('fuelmark_chance_steps_total{what="levels"}')).to.be.at.least(1);
  });

  it("are gone two minutes after the last one has stopped", async () => {
    await Promise.all(workers.filter(({ role }) => role === "snapshots").map(stop));
    expect(await levelAt(0)).not.to.equal(null);
    const away = "update chance_follower set followed_at = followed_at - interval '2 minutes'";
    await rows(country.db, away);
    await until(
      async () => [await levelAt(0), await levelAt(1)],
      (levels) => levels.every((level) => level === null),
    );
  });
});
