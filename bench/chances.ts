import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { collectedHeap } from "#bench/trust/chance/cost.ts";
import { openStage } from "#bench/stage.ts";
import { createDb, type Db, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import { createServerTime } from "#src/infrastructure/server-time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { createChanceFollower } from "#workers/snapshots/chances.ts";

/** In each of these the follower looks at all stations once. */
const [windows, windowMs] = [2, 5 * minuteMs];
/** Longer than the pause between two looks. */
const someLooksMs = 10_000;

interface Spent {
  s: number;
  cpuS: number;
}

/** What following the marks costs: a start without a memory, time without news, a start with one. Answers the section. */
export async function benchChances({ quick }: { quick: boolean }): Promise<string> {
  const [stations, marks] = quick ? [3000, 50_000] : [30_000, 1_000_000];
  const stage = await openStage({ QUERY_TIMEOUT_MS: "300000", REDIS_TIMEOUT_MS: "30000" });
  try {
    const { config } = stage;
    const log = createLog({ logLevel: "silent" }, "bench");
    const [db, redis] = [createDb(config, "bench"), createRedis(config, log)];
    stage.onClose(() => db.destroy());
    stage.onClose(() => redis.disconnect());
    const time = createServerTime({ config, db, redis, log });
    await time.start();
    stage.onClose(() => time.stop());
    await fill(db, stations, marks);
    const follower = () => createChanceFollower({ config, db, log, redis, time });

    const first = follower();
    const loadBefore = loadavg()[0]!;
    const heapBefore = collectedHeap();
    const start = await spent(() => first.look());
    const bytes = collectedHeap() - heapBefore;
    await first.start();
    const waitedMs = quick ? someLooksMs : windowMs;
    // So that the looks at all stations come in the middle.
    await sleep(waitedMs / 2);
    const idle: Spent[] = [];
    while (idle.length < windows) idle.push(await spent(() => sleep(waitedMs)));
    const stop = await spent(() => first.stop());
    const [key = ""] = await redis.keys(`${config.redisPrefix}:chances:*`);
    const stored = (await redis.hgetBuffer(key, "body"))!.length;
    const next = follower();
    const again = await spent(() => next.look());
    await next.stop();
    const levels = (await rows<{ levels: number }>(db, "select levels from chance_follower"))[0]!;

    const shares = idle.map(({ s, cpuS }) => (100 * cpuS) / s);
    const mean = shares.reduce((sum, share) => sum + share, 0) / windows;
    const line = (what: string, { s, cpuS }: Spent): string =>
      `| ${what} | ${s.toFixed(1)} s | ${cpuS.toFixed(1)} s |`;
    return [
      `The process that follows the marks (\`workers/snapshots/chances.ts\`), with ${marks.toLocaleString("en")} counted marks of three days at ${stations.toLocaleString("en")} stations, in a Postgres and a Redis of its own. Load of the machine before: ${loadBefore.toFixed(1)}.`,
      [
        "| | time | CPU of the process |",
        "| --- | --- | --- |",
        line(
          `a start without a memory, ${levels.levels.toLocaleString("en")} levels written`,
          start,
        ),
        line("storing the memory in Redis", stop),
        line("a start from it, with a look at all stations", again),
      ].join("\n"),
      `A mark: ${((start.cpuS / marks) * 1e6).toFixed(0)} µs of CPU, reading included. Memory: ${(bytes / 1e6).toFixed(0)} MB of heap, ${(bytes / stations / 1000).toFixed(1)} kB a station; ${(stored / 1e6).toFixed(1)} MB in Redis. Without news, over ${windows} times five minutes, each with a look at all stations: ${mean.toFixed(2)} % of a core, at most ${Math.max(...shares).toFixed(2)} % (goal: 1 %). While marks come, the memory is stored every five minutes too.`,
      `\`npm run bench -- chances${quick ? " --quick" : ""}\``,
    ].join("\n\n");
  } finally {
    await stage.close();
  }
}

async function spent(work: () => Promise<void>): Promise<Spent> {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { s: (performance.now() - startedAt) / 1000, cpuS: (user + system) / 1e6 };
}

/** Stations in a square, a reporter for each five marks, and the marks, as a worker has left them. */
async function fill(db: Db, stations: number, marks: number): Promise<void> {
  const reporters = Math.ceil(marks / 5);
  await rows(db, "select ensure_mark_partitions((now() - interval '4 days')::date, 6)");
  await rows(
    db,
    `insert into stations (id, source, lat, lon) select 's' || n, 'bench', 50 + n % 173 * 0.05, 30 + n / 173 * 0.05
     from generate_series(0, ?::int - 1) n`,
    [stations],
  );
  await rows(
    db,
    `insert into reporters (hash, first_seen)
     select sha256(n::text::bytea), now() - interval '4 days' - n * interval '7 s' from generate_series(1, ?::int) n`,
    [reporters],
  );
  await rows(
    db,
    `with said as (
       select n, now() - (?::int - n) * interval '71 hours' / ?::int as at, abs(hashint8(n * 31)) as drawn
       from generate_series(1, ?::int) n)
     insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule,
       processed_at, outcome, outcome_status)
     select next_mark_id(at), 's' || drawn % ?::int, 1 + abs(hashint8(n * 17)) % ?::int, 'partner',
       (array['yes', 'no', 'no', 'low'])[1 + (drawn / 7 + n / 50000) % 4], at, at, drawn % 5 = 0, 1, 'geolocated',
       at, 'published', 'yes' from said order by n`,
    [marks, marks, marks, stations, reporters],
  );
  await rows(
    db,
    "insert into station_status (station_id, updated_at) select id, now() - interval '1 hour' from stations",
  );
  await rows(db, "select feed_stamp(array(select id from stations))");
  await rows(db, "vacuum analyze marks");
}
