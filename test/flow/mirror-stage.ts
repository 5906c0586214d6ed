import { shownFacts, shownFuel } from "#test/oracle/reads.ts";
import type { StationRow } from "#src/feed/feed.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { createClient } from "#client/client.ts";
import { type MirrorState, mirror, type Mirror, type Store } from "#client/mirror.ts";
import type { Station } from "#client/types.ts";
import { createRandom, type Random } from "#demo/country/random.ts";
import { rows } from "#src/infrastructure/db.ts";
import type { StationState } from "#src/domain/state.ts";
import { formatTime } from "#src/domain/time.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { until } from "#test/flow/client.ts";
import { type AnswerRecord, createRecord, logFeed } from "#test/flow/mirror-record.ts";
import {
  freezeSome,
  holdTransaction,
  importStations,
  joinSome,
  sendMarks,
  type Stage,
  stationCount,
  writeSomeChances,
} from "#test/flow/mirror-writers.ts";
import { makeTrouble } from "#test/flow/mirror-trouble.ts";
import { createTestInstance, usualPatience } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { type OwnServer, startPrivateRedis } from "#test/harness/servers.ts";

const mirrorCount = 10;

export interface Play {
  seed: number;
  /** How long marks, imports and removals go on, ms. */
  writeMs: number;
  /** How long a stranger's write transaction stays open meanwhile, ms. */
  strangerMs: number;
}

/** Three web processes with their workers, and a country that can be played on again and again. */
export interface MirrorStage {
  /** Writes, mirrors and restarts by a seed; throws where a copy or a cursor is wrong. */
  play(play: Play): Promise<{ marks: number; answers: number; restarts: number; streams: number }>;
  close(): Promise<void>;
}

/** `by` streams, mirrors live through more trouble than by polls, which has a stage of its own. */
export async function openMirrorStage(by: "polls" | "streams" = "polls"): Promise<MirrorStage> {
  const redis = by === "streams" ? await startPrivateRedis() : null;
  const forStreams = { ...usualPatience, STREAM_HEARTBEAT_MS: "300", STREAMS_PER_KEY: "100" };
  const instance = await createTestInstance({
    ...{ SLOT_MS: "2000", DUMP_MAX_AGE_MS: "3000" },
    ...(redis === null ? {} : { ...forStreams, REDIS_URL: redis.url }),
    // The process of the tests imports and reads ten copies at once: a transaction of its own may wait for it long.
    ...{ LOCK_TIMEOUT_MS: "20000", ACQUIRE_TIMEOUT_MS: "20000" },
    // Everybody here marks for the first time.
    ...{ NEW_REPORTERS_DAILY: "1000000", MASS_NO_LIMIT: "1000000" },
  });
  const country = await openCountry(instance.config, stationCount);
  await logFeed(country.db);
  const start = (role: string): Promise<RoleProcess> => startRoleProcess(role, instance.env);
  const webs = await Promise.all(["web", "web", "web"].map(start));
  const workers = await Promise.all(["marks", "snapshots", "upkeep", "clock"].map(start));
  return {
    play: (play) => playOn({ instance, country, webs }, redis, play),
    close: async () => {
      await Promise.all([...webs, ...workers].map((role) => role.stop()));
      await country.close();
      await instance.drop();
      await redis?.drop();
    },
  };
}

async function playOn(stage: Stage, redis: OwnServer | null, { seed, writeMs, strangerMs }: Play) {
  const { country, webs } = stage;
  await country.db.raw("truncate feed_log");
  const record = createRecord();
  const random = createRandom(seed);
  const done = new AbortController();
  const end = Date.now() + writeMs;
  const readers = Array.from({ length: mirrorCount }, (_, n) =>
    readOn(stage, createRandom(seed * 100 + n), record, done.signal, redis !== null),
  );
  const trouble = createRandom(seed + 2);
  const writes = [
    sendMarks(stage, random, seed, end),
    importStations(stage, createRandom(seed + 1), end),
    joinSome(stage, createRandom(seed + 3), end),
    writeSomeChances(stage, createRandom(seed + 4), end),
    holdTransaction(stage.instance, strangerMs),
    redis === null
      ? freezeSome(stage, trouble, record, end)
      : makeTrouble(stage, redis, trouble, end),
  ] as const;
  try {
    const [{ sent, lastExpiry }] = await Promise.all(writes);
    const unprocessed = "select count(*) from marks where processed_at is null";
    await until(
      () => rows<{ count: number }>(country.db, unprocessed),
      ([row]) => row?.count === 0,
    );
    await sleep(Math.max(0, lastExpiry - Date.now()) + 2500);
    const whole = await agreed(webs, country.secret);
    expect(whole).to.deep.equal(await truth(country));
    done.abort();
    const copies = await Promise.all(readers);
    const answers = await record.check(country.db);
    for (const [n, { copy }] of copies.entries())
      expect(copy, `copy of mirror ${n}`).to.deep.equal(whole);
    const restarts = copies.reduce((sum, one) => sum + one.restarts, 0);
    const streams = copies.reduce((sum, one) => sum + one.streams, 0);
    return { marks: sent, answers, restarts, streams };
  } finally {
    done.abort();
    await Promise.allSettled([...readers, ...writes]);
  }
}

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** What all processes say once they say the same and nothing is on its way any more. */
async function agreed(webs: readonly RoleProcess[], key: string): Promise<Station[]> {
  const quietFrom = formatTime(Date.now());
  const clients = webs.map(({ baseUrl }) => createClient({ baseUrl, key }));
  const answers = await until(
    () => Promise.all(clients.map((one) => one.all.ifChanged({ limit: 30_000 }, null))),
    (all) =>
      all.every(({ etag, body }) => etag === all[0]?.etag && (body?.as_of ?? "") >= quietFrom),
  );
  return answers[0]?.body?.stations ?? [];
}

/** The stations as the rows in the database say, worked out here. */
async function truth({ db }: Country): Promise<Station[]> {
  const found = await rows<StationRow & { state: StationState | null; chance: number | null }>(
    db,
    `select s.id, s.lat, s.lon, s.brand, s.name, s.addr, s.grades_sold, s.opening_hours, s.closed, st.state, st.chance
     from stations s left join station_status st on st.station_id = s.id where s.removed_at is null`,
  );
  const now = Date.now();
  return found.map((row) => ({ ...shownFacts(row), fuel: shownFuel(row, now) })).sort(byId);
}

/** One partner's mirror, which pauses, is stopped, or is killed at random, and starts again from what it had saved. */
async function readOn(
  { webs, country }: Stage,
  random: Random,
  record: AnswerRecord,
  done: AbortSignal,
  stream: boolean,
): Promise<{ copy: Station[]; restarts: number; streams: number }> {
  let saved: string | null = null;
  let streams = 0;
  const rotate = async (url: string, init: RequestInit): Promise<Response> => {
    const { baseUrl } = random.pick(webs);
    const target = url.replace("http://balancer", baseUrl);
    const response = await fetch(target, init);
    if (response.headers.get("content-type") === "text/event-stream") streams += 1;
    else if (response.ok) record.note(baseUrl, target, await response.clone().text());
    return response;
  };
  const start = (): { running: Mirror; kill: () => void } => {
    let alive = true;
    const store: Store = {
      load: async () => (saved === null ? null : (JSON.parse(saved) as MirrorState)),
      save: async (state) => {
        if (alive) saved = JSON.stringify(state);
      },
    };
    const running = mirror({
      ...{ baseUrl: "http://balancer", key: country.secret, fetch: rotate, store },
      ...{ pollMs: random.int(100, 1500), saveMs: random.int(0, 3000) },
      ...{ stream, silentMs: 1500 },
    });
    return { running, kill: () => (alive = false) };
  };
  let restarts = 0;
  let now = start();
  while (!done.aborted) {
    await sleep(random.int(500, 4000), undefined, { signal: done }).catch(() => {});
    if (done.aborted) break;
    if (random.chance(0.5)) now.kill();
    await now.running.stop();
    if (random.chance(0.5))
      await sleep(random.int(0, 2000), undefined, { signal: done }).catch(() => {});
    now = start();
    restarts++;
  }
  // One more from what is saved, then once up to date, whichever process answers.
  await now.running.refresh();
  await now.running.stop();
  return { copy: [...now.running.stations.values()].sort(byId), restarts, streams };
}
