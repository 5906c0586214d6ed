import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import pg from "pg";
import { createClient } from "#client/client.ts";
import type { BatchReport } from "#client/types.ts";
import type { Random } from "#demo/country/random.ts";
import { formatTime } from "#src/domain/time.ts";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";
import { saveStations } from "#src/import/apply-stations.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { isUnavailable } from "#src/infrastructure/db.ts";
import { mergeStation, splitStation } from "#src/stations/join-stations.ts";
import { closeStation, reopenStation } from "#src/stations/station-service.ts";
import { by } from "#test/harness/by.ts";
import { writeChances } from "#test/flow/chances.ts";
import { type Country, placeOf } from "#test/flow/country.ts";
import { type AnswerRecord, nameOf } from "#test/flow/mirror-record.ts";
import type { TestInstance } from "#test/harness/instance.ts";
import type { RoleProcess } from "#test/harness/processes.ts";

export const stationCount = 400;
const marksPerS = 100;
const lifetimeMs = 24 * 3600_000;

/** What the writers work on. */
export interface Stage {
  instance: TestInstance;
  country: Country;
  webs: RoleProcess[];
}

/** Marks of ever new users in batches, some of them so old that they expire while all this goes on. */
export async function sendMarks(
  { webs, country }: Stage,
  random: Random,
  seed: number,
  end: number,
) {
  const client = createClient({
    ...{ baseUrl: "http://balancer", key: country.secret },
    // Each attempt goes to another one: a process may be gone by then.
    fetch: (url, init) => fetch(url.replace("http://balancer", random.pick(webs).baseUrl), init),
  });
  const everyMs = 250;
  const start = Date.now();
  let [sent, batches] = [0, 0];
  let lastExpiry = 0;
  const mark = (): BatchReport => {
    const { id, lat, lon } = placeOf(random.int(0, stationCount - 1));
    const user = `${seed}-${sent++}`;
    const some = {
      station_id: id,
      user_ref: user,
      external_id: user,
      status: random.pick(statuses),
    };
    const where = random.chance(0.8) ? { lat, lon } : {};
    const more = random.chance(0.5)
      ? {
          fuels: [random.pick(grades)],
          prices: { 92: random.int(50, 70) },
          queue: random.pick(queues),
        }
      : {};
    if (!random.chance(0.2)) return { ...some, ...where, ...more };
    const observed = Math.floor(random.between(Date.now(), end + 2000) / 1000) * 1000;
    lastExpiry = Math.max(lastExpiry, observed);
    return { ...some, ...where, ...more, observed_at: formatTime(observed - lifetimeMs) };
  };
  const pending = new Set<Promise<unknown>>();
  while (Date.now() < end) {
    const batch = Array.from({ length: (marksPerS * everyMs) / 1000 }, mark);
    const sending = client.reports(batch);
    pending.add(sending);
    sending.finally(() => pending.delete(sending)).catch(() => {});
    // By the clock: on a slow machine each sleep is longer, and there would be fewer marks.
    await sleep(Math.max(0, start + ++batches * everyMs - Date.now()));
  }
  await Promise.all(pending);
  return { sent, lastExpiry };
}

/** Does a write again that was broken off while a frozen process held its locks, as an operator would. */
async function untilDone<T>(write: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await write();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
}

/** Joins stations and takes them apart, and closes some: whatever is in service by then. */
export async function joinSome({ country }: Stage, random: Random, end: number): Promise<void> {
  const { db } = country;
  let joined = 0;
  while (Date.now() < end) {
    const [part, whole] = [random.int(0, stationCount - 1), random.int(0, stationCount - 1)].map(
      (n) => placeOf(n).id,
    );
    const merged = await untilDone(() => mergeStation(by(db, "olga"), { other: whole! }, part!));
    if (!isRefusal(merged)) joined += 1;
    const split = random.chance(0.5) ? placeOf(random.int(0, stationCount - 1)).id : part!;
    if (random.chance(0.5)) await untilDone(() => splitStation(by(db, "olga"), {}, split));
    if (random.chance(0.1)) await untilDone(() => closeStation(by(db, "olga"), {}, whole!));
    if (random.chance(0.1)) await untilDone(() => reopenStation(by(db, "olga"), {}, whole!));
    await sleep(random.int(20, 200));
  }
  expect(joined).to.be.greaterThan(0);
}

let version = 0;

/** Imports that rename, move, add and bring back, and removals. */
export async function importStations(
  { country }: Stage,
  random: Random,
  end: number,
): Promise<void> {
  const { db } = country;
  const some = (): number[] =>
    Array.from({ length: random.int(1, 40) }, () => random.int(0, stationCount + 100));
  while (Date.now() < end) {
    const stations = [...new Set(some())].map((n) => {
      const place = placeOf(n);
      const name = nameOf(++version);
      // Beyond the first ones they are new; a move keeps a station near enough for marks at the old place.
      return {
        ...place,
        lon: place.lon + random.int(0, 3) * 0.001,
        brand: "Brand",
        name,
        addr: "",
        ...{ grades_sold: "92,95", opening_hours: "24/7" },
      };
    });
    await untilDone(() => saveStations(db, "test", { stations }, false, () => {}));
    if (random.chance(0.6)) {
      const gone = [...new Set(some().slice(0, 8))].map((n) => placeOf(n).id);
      await untilDone(() => saveStations(db, "test", { gone }, false, () => {}));
    }
    await sleep(random.int(100, 1200));
  }
}

/** Chances that come, change and go, some stations at a time and some of them without any mark. */
export async function writeSomeChances(
  { country }: Stage,
  random: Random,
  end: number,
): Promise<void> {
  while (Date.now() < end) {
    const some = Array.from({ length: random.int(1, 30) }, () => random.int(0, stationCount - 1));
    const chances = some.map((n): [string, number | null] => [
      placeOf(n).id,
      random.chance(0.1) ? null : 5 * random.int(0, 20),
    ]);
    await untilDone(() => writeChances(country.db, new Map(chances)));
    await sleep(random.int(50, 600));
  }
}

/** Somebody else's work in the same database, which has written and does not commit. */
export async function holdTransaction({ databaseUrl }: TestInstance, ms: number): Promise<void> {
  const stranger = new pg.Client({ connectionString: databaseUrl });
  await stranger.connect();
  try {
    await stranger.query(
      "begin; create table if not exists strange (x int); insert into strange values (1)",
    );
    await sleep(ms);
    await stranger.query("commit");
  } finally {
    await stranger.end();
  }
}

/** Lets a process fall behind: what it says when it goes on is old, and its `as_of` must say so. */
export async function freezeSome(
  { webs, country }: Stage,
  random: Random,
  record: AnswerRecord,
  end: number,
): Promise<void> {
  const headers = { Authorization: `Bearer ${country.secret}` };
  while (Date.now() < end - 4000) {
    await sleep(random.int(1000, 2000));
    const { baseUrl, freeze, thaw } = random.pick(webs);
    const since = encodeURIComponent(formatTime(Date.now() - 5000));
    const url = `${baseUrl}/api/v1/partner/stations/delta?updated_since=${since}`;
    freeze();
    await sleep(random.int(500, 3000));
    // They wait in its socket, and are answered before it has caught up.
    const waiting = Array.from({ length: 5 }, () => fetch(url, { headers }));
    await sleep(50);
    thaw();
    for (const response of await Promise.all(waiting)) {
      const body = await response.text();
      // What took too long for the limiter or the database is refused: that promises nothing.
      if (response.ok) record.note(baseUrl, url, body);
      else expect(response.status, body).to.equal(503);
    }
  }
}
