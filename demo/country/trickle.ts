import { setTimeout as sleep } from "node:timers/promises";
import { insertMarks, insertReporters, makeMark, type DemoMark } from "#demo/country/marks.ts";
import { createRandom, type Random } from "#demo/country/random.ts";
import { isNewcomer, reporterCount, reporterHash } from "#demo/country/reporters.ts";
import { statusFor } from "#demo/country/stories.ts";
import { createClock } from "#src/infrastructure/clock.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb, inTransaction, rows, type Db } from "#src/infrastructure/db.ts";
import type { Point } from "#src/domain/geo.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { msOf } from "#src/marks/marks.ts";
import { createProducer } from "#src/infrastructure/queues.ts";

// A role of `npm start`: synthetic marks every few seconds while demo stations are shown, so that the map stays alive.
// Ends by itself, with exit code 0, when there is nothing to do.
const config = loadConfig();
const log = createLog(config, "trickle");
const clock = createClock(config);
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    stop.abort();
    setTimeout(() => process.exit(1), config.stopMs).unref();
  });
}

if (!config.demoTrickle) log.info("switched off");
else await run();

async function run(): Promise<void> {
  const db = createDb(config, "demo trickle", 2);
  const producer = createProducer(config, log);
  const random = createRandom(clock());
  try {
    for (let ready = false; !stop.signal.aborted; ready = true) {
      try {
        const stations = await pickStations(db, random);
        if (stations.length === 0) return log.info("no demo stations");
        if (!ready) log.info("ready");
        const marks = await drop(db, random, stations);
        producer.wakeMarks([...new Set(marks.map(({ stationId }) => stationId))]);
      } catch (error) {
        log.warn({ err: error }, "no marks this time");
      }
      // 3 to 8 s: some 30,000 marks a day, so that most stations keep a status.
      await sleep(random.between(3000, 8000), undefined, { signal: stop.signal }).catch(
        () => undefined,
      );
    }
  } finally {
    await producer.close();
    await db.destroy();
  }
}

interface Picked extends Point {
  id: string;
  served: Status | null;
  pending: Status | null;
}

/** One or two stations of the two thirds that ever get marks, with what is known of them. */
async function pickStations(db: Db, random: Random): Promise<Picked[]> {
  return rows<Picked>(
    db,
    `select s.id, s.lat, s.lon, st.state -> 'served' ->> 'status' as served,
        st.state -> 'versions' -> 0 ->> 'status' as pending
      from stations s left join station_status st on st.station_id = s.id
      where s.source = 'demo' and s.removed_at is null and abs(hashtext(s.id)) % 3 > 0
      order by random() limit ?`,
    [random.int(1, 2)],
  );
}

interface Driver {
  hash: string;
  firstSeen: number;
}

/** Stores one to five marks at these stations by as many drivers; now and then one of them is new. */
async function drop(db: Db, random: Random, stations: readonly Picked[]): Promise<DemoMark[]> {
  const now = clock();
  const names = Array.from({ length: 8 }, () => String(random.int(0, reporterCount - 1)));
  const known = await rows<Driver>(
    db,
    `select encode(hash, 'hex') as hash, ${msOf("first_seen")} as "firstSeen" from reporters
      where hash in (select decode(name, 'hex') from unnest(?::text[]) as name)`,
    [names.map(reporterHash)],
  );
  const fresh = { hash: reporterHash(`${now} ${random.next()}`), firstSeen: now };
  const drivers = random.chance(0.02) || known.length === 0 ? [fresh, ...known] : known;
  const said = stations.flatMap((station) =>
    words(random, station).map((status) => ({ station, status })),
  );
  const marks = said.slice(0, drivers.length).map(({ station, status }, index) => {
    const driver = drivers[index] as Driver;
    const newcomer = isNewcomer(driver.firstSeen, now);
    const remote = random.chance(0.08);
    const more = { at: now, nearbyMarks: true, newcomer, remote, reporterHash: driver.hash };
    return makeMark(random, station, { status, ...more });
  });
  await inTransaction(db, async (tx) => {
    await insertReporters(tx, drivers.slice(0, marks.length));
    await insertMarks(tx, marks);
  });
  return marks;
}

/** What drivers say at a station now: mostly what is known, sometimes a turn, seldom two against two. */
function words(random: Random, { served, pending }: Picked): Status[] {
  if (pending !== null && random.chance(0.5)) return [pending];
  if (served !== null && served !== "no" && random.chance(0.04))
    return [served, served, "no", "no"];
  const status = served !== null && random.chance(0.65) ? served : statusFor(random, random.next());
  return status === "no" && random.chance(0.7) ? ["no", "no"] : [status];
}
