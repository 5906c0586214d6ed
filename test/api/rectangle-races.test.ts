import { expect } from "chai";
import { cellsOf } from "#src/feed/cache-generations.ts";
import { createFollower } from "#src/feed/follower.ts";
import { rows } from "#src/infrastructure/db.ts";
import { addKey, addPartner, beforeStoring, type Edge } from "#test/api/edge.ts";
import { serving, writeStations } from "#test/api/reads-country.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { runOperator } from "#test/harness/operator.ts";
import { startWorker } from "#test/harness/roles.ts";
import { sized } from "#test/harness/long.ts";
import { useInstance, usePrivateRedis } from "#test/harness/use.ts";
import { useEdgeOn } from "#test/api/edge.ts";

/** Stations in a row, in cells of their own; the last ones on both sides of 180°. */
const places = [
  ...Array.from({ length: 30 }, (_, n) => ({ id: `c${n}`, lat: 50 + n / 10, lon: 30 })),
  { id: "east", lat: 10, lon: 179.99 },
  { id: "line", lat: 10, lon: -180 },
  { id: "west", lat: 10, lon: -179.99 },
];
const place = (id: string) => places.find((one) => one.id === id)!;
const around = (n: number, filters = ""): string =>
  `/stations?bbox=${(50 + n / 10 - 0.013).toFixed(3)},29.987,${(50 + n / 10 + 0.013).toFixed(3)},30.013${filters}`;
const cacheOf = (answer: Answer): string | null => answer.headers.get("x-service-cache");
const statusOf = (answer: Answer): string => answer.body.stations[0]?.fuel.status;
/** A follower that nothing wakes: it reads the feed only when it must. */
const unwoken: typeof createFollower = (deps) => {
  const real = createFollower(deps);
  return { ...real, start: () => real.refresh() };
};
const hourMs = 3600_000;

describe("races of the cached rectangles", function () {
  const redis = usePrivateRedis();
  const instance = useInstance(() => ({
    LOG_LEVEL: "silent",
    REDIS_URL: redis.url,
    // On a busy machine a look at the feed may take more than a second; then the answer would be an older one.
    CACHE_FEED_WAIT_MS: "60000",
  }));
  let stopMarks: () => Promise<void>;
  let secret: string;
  let open: string;
  let marker: Client;
  /** What happens between the making and the storing of an answer in the slow process. */
  let beforeStore: () => Promise<void>;
  /** What the clocks of the processes are ahead, ms. */
  let aheadMs = 0;
  const clock = (): number => Date.now() + aheadMs;

  before(async () => {
    const partner = await addPartner(instance.db, {
      rpm: 100_000,
      daily: 1_000_000,
      cache_ttl_s: 3600,
    });
    secret = await addKey(instance.db, partner);
    open = await addKey(instance.db, partner, "publishable");
    await writeStations(instance.db, places);
  });
  const first = useEdgeOn(instance, { clock });
  const second = useEdgeOn(instance, { clock });
  const slow = useEdgeOn(instance, { clock, follower: unwoken });
  before(async () => {
    beforeStoring(slow, () => beforeStore());
    stopMarks = await startWorker("marks", instance.config);
    marker = createClient(first.origin, secret);
  });
  beforeEach(() => {
    beforeStore = () => Promise.resolve();
  });
  after(() => stopMarks?.());

  const reader = ({ origin }: Edge): Client => createClient(origin, open);
  const cached = (edge: Edge, path: string): Promise<Answer> =>
    until(
      () => reader(edge).get(path),
      (answer) => cacheOf(answer) === "hit",
    );
  let drivers = 0;
  const mark = async (id: string, status: string): Promise<void> => {
    const answer = await marker.mark(place(id), `driver ${drivers++}`, { status });
    expect([answer.status, answer.body.published.outcome]).to.deep.equal([200, "published"]);
  };
  const expectEverywhere = async (path: string, status: string): Promise<void> => {
    for (const edge of [slow, second, first, slow])
      expect(statusOf(await reader(edge).get(path))).to.equal(status);
  };
  const cellsKey = (): string => `${instance.redisPrefix}:cells`;
  /** The connection of a test, apart from those of the processes. */
  const raw = () => second.web.services.redis;
  const cutRedis = async (): Promise<void> => {
    const ready = [first, second, slow].map(
      ({ web }) => new Promise<void>((done) => web.services.redis.once("ready", done)),
    );
    await raw()
      .call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
      .catch(() => {});
    await Promise.all(ready);
    // A process answers from its own model until it has renewed the epoch, and where its count was under way for a second.
    await until(
      async () =>
        [first, second, slow].every(
          ({ web: { services } }) => !services.meter.away && services.invalidation.isCurrent(),
        ),
      (isBack) => isBack,
    );
  };

  it("do not bring back an answer that was made before Redis was wiped and stored after it", async () => {
    await cached(slow, around(0));
    await mark("c0", "yes");
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const made = new Promise<void>((resolve) => {
      beforeStore = () => {
        resolve();
        return held;
      };
    });
    const old = reader(slow).get(around(0));
    await made;
    await mark("c0", "low");
    // Nobody tells of the change any more.
    for (const { web } of [first, second]) {
      await web.services.follower.refresh();
      await web.services.invalidation.publish();
    }
    await raw().flushall();
    release();
    expect(statusOf(await old)).to.equal("yes");
    await expectEverywhere(around(0), "low");
  });

  it("do not survive a failover to a copy of Redis that lacks the last generation", async () => {
    await mark("c1", "low");
    for (const edge of [first, second, slow]) await cached(edge, around(1));
    const before = await raw().hgetall(cellsKey());
    const entries = await Promise.all(
      (await raw().keys(`${instance.redisPrefix}:rectangle:*`)).map(async (key) => ({
        key,
        dump: await raw().dumpBuffer(key),
      })),
    );
    await mark("c1", "yes");
    // The copy knows everything but the last moment.
    await raw().del(cellsKey());
    await raw().hset(cellsKey(), before);
    for (const { key, dump } of entries) await raw().restore(key, 0, dump!, "REPLACE");
    await cutRedis();
    await expectEverywhere(around(1), "yes");
  });

  it("do not show a mark's station as it was, in a database that has lost its last changes", async () => {
    await mark("c2", "low");
    const [kept] = await rows<{ seq: number; state: string }>(
      instance.db,
      `select c.seq, s.state::text as state from changes c join station_status s using (station_id)
       where station_id = 'c2'`,
    );
    await mark("c2", "yes");
    await cached(second, around(2));
    await cached(slow, around(2));
    // The number that is lost is given out again.
    await instance.db.raw("update changes set seq = ?, at = server_now() where station_id = 'c2'", [
      kept!.seq,
    ]);
    await instance.db.raw("update station_status set state = ?::jsonb where station_id = 'c2'", [
      kept!.state,
    ]);
    await instance.db.raw("delete from opinions where station_id = 'c2'");
    await instance.db.raw("select setval('change_seq', ?)", [kept!.seq]);
    await instance.db.raw(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    await until(
      () => marker.get("/stations/c2"),
      (answer) => answer.status === 200 && answer.body.station.fuel.status === "low",
    );
    const sent = await until(
      () => marker.mark(place("c2"), `driver ${drivers++}`, { status: "queue" }),
      (answer) => answer.status === 200,
    );
    expect(sent.body.published.outcome).to.equal("published");
    await expectEverywhere(around(2), "queue");
  });

  it("are computed anew after a restored database was announced", async () => {
    await cached(slow, around(3));
    const epoch = await raw().hget(cellsKey(), "epoch");
    await runOperator(instance.env, "database", "restored", "--json");
    expect(await raw().hget(cellsKey(), "epoch")).to.not.equal(epoch);
    const [{ seq } = { seq: 0 }] = await rows<{ seq: number }>(
      instance.db,
      "select max(seq) as seq from changes",
    );
    await until(
      async () => first.web.services.follower.seq(),
      (reached) => reached >= seq,
    );
    await until(
      () => reader(slow).get(around(3)),
      (answer) => cacheOf(answer) === "miss",
    );
    expect(slow.web.services.follower.seq()).to.be.at.least(seq);
    await mark("c3", "yes");
    await expectEverywhere(around(3), "yes");
  });

  it("show a station that has moved at its new place, and not at its old one", async () => {
    const from = around(4);
    const to = around(5).replaceAll("29.987", "39.987").replaceAll("30.013", "40.013");
    for (const path of [from, to]) await cached(slow, path);
    await writeStations(instance.db, [{ ...place("c4"), lat: 50.5, lon: 40 }]);
    await until(
      () => reader(second).get(to),
      (answer) => answer.body.count === 1,
    );
    for (const edge of [slow, first]) {
      expect((await reader(edge).get(from)).body.count).to.equal(0);
      expect((await reader(edge).get(to)).body.count).to.equal(1);
    }
  });

  it("end when a status becomes too old for fresh_h, and when time alone changes one, at that moment", async () => {
    const now = clock();
    const path = around(6, "&fresh_h=1");
    const expiry = around(7);
    await writeStations(instance.db, [
      { ...place("c6"), state: serving("yes", Math.floor(now / 1000) * 1000 - hourMs + 60_000) },
      {
        ...place("c7"),
        state: serving("yes", Math.floor(now / 1000) * 1000 - 24 * hourMs + 90_000),
      },
    ]);
    await until(
      () => reader(second).get(path),
      (answer) => answer.body.count === 1,
    );
    for (const edge of [first, second]) {
      await until(
        () => reader(edge).get(expiry),
        (answer) => statusOf(answer) === "yes",
      );
      expect((await cached(edge, path)).body.count).to.equal(1);
      expect(statusOf(await cached(edge, expiry))).to.equal("yes");
    }
    aheadMs += 61_000;
    for (const edge of [first, second]) {
      const found = await reader(edge).get(path);
      expect([found.body.count, statusOf(await reader(edge).get(expiry))]).to.deep.equal([
        0,
        "yes",
      ]);
    }
    aheadMs += 30_000;
    for (const edge of [first, second])
      expect(statusOf(await reader(edge).get(expiry))).to.equal("nodata");
  });

  it("contain both sides of 180°", async () => {
    const boxes = ["9.9,179.9,10.1,-179.9", "9.9,179.9,10.1,180", "9.9,-180,10.1,-179.9"];
    const paths = boxes.map((box) => `/stations?bbox=${box}`);
    for (const [n, id] of ["line", "east", "west", "line"].entries()) {
      const status = ["yes", "low", "queue", "low"][n]!;
      for (const path of paths) await cached(slow, path);
      await mark(id, status);
      for (const path of paths)
        for (const edge of [slow, second]) {
          const { stations } = (await reader(edge).get(path)).body;
          const found = stations.find((one: { id: string }) => one.id === id);
          if (found !== undefined) expect(found.fuel.status).to.equal(status);
          else expect(path.includes(id === "east" ? "9.9,-180" : "180")).to.equal(true);
        }
    }
  });

  it("answer a mark with 202 while its rectangles cannot be dropped, and drop them before it is processed", async () => {
    await cached(second, around(8));
    // A process that has lost Redis while the others have not.
    const { redis: own } = first.web.services;
    const send = own.sendCommand.bind(own);
    // The command itself fails, as in the library: a pipeline waits for its commands, and for nothing that is returned here.
    own.sendCommand = (command) => {
      command.reject(new Error("Connection is closed."));
      return command.promise;
    };
    const apart = { ...instance.config, redisPrefix: `${instance.redisPrefix}apart`, sweepMs: 50 };
    await stopMarks();
    stopMarks = await startWorker("marks", apart);
    try {
      const sent = await marker.mark(
        place("c8"),
        `driver ${drivers++}`,
        { status: "no" },
        { Prefer: "wait=1" },
      );
      expect(sent.status).to.equal(202);
      const path = `/reports/${sent.body.report_id}`;
      expect((await marker.get(path)).body.state).to.equal("queued");
      own.sendCommand = send;
      await until(
        () => marker.get(path),
        (report) => report.body.state === "processed",
      );
      await expectEverywhere(around(8), "no");
    } finally {
      own.sendCommand = send;
      await stopMarks();
      stopMarks = await startWorker("marks", instance.config);
    }
  });

  it("are dropped by the marks worker itself, as soon as it has committed", async () => {
    const config = { ...instance.config, redisPrefix: `${instance.redisPrefix}alone`, sweepMs: 50 };
    await stopMarks();
    stopMarks = await startWorker("marks", config);
    try {
      await mark("c9", "yes");
      // Nobody else writes under this prefix.
      const cells = await until(
        () => raw().hgetall(`${config.redisPrefix}:cells`),
        (found) => Object.keys(found).length > 0,
      );
      const [{ seq } = { seq: 0 }] = await rows<{ seq: number }>(
        instance.db,
        "select seq from changes where station_id = 'c9'",
      );
      expect(Object.keys(cells).sort()).to.deep.equal(cellsOf(place("c9")).sort());
      expect(new Set(Object.values(cells))).to.deep.equal(new Set([String(seq)]));
    } finally {
      await stopMarks();
      stopMarks = await startWorker("marks", instance.config);
    }
  });

  it("show every answered mark to every reader, while all of them read at once", async () => {
    let done = false;
    const paths = [around(20), around(21, "&fresh_h=2"), "/stations?bbox=50,29,54,31"];
    const known = { c20: "", c21: "" };
    const statuses = ["yes", "low", "queue"];
    const seen = (answer: Answer, id: string): string | undefined =>
      answer.body.stations.find((one: { id: string }) => one.id === id)?.fuel.status;
    let reads = 0;
    const read = async (edge: Edge): Promise<void> => {
      for (let n = 0; !done; n++) {
        const before = { ...known };
        const answer = await reader(edge).get(paths[n % 3]!);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        reads += 1;
        for (const id of ["c20", "c21"] as const) {
          const status = seen(answer, id);
          // A mark under way may show already; one that was answered must.
          if (before[id] !== "" && known[id] === before[id] && status !== undefined)
            expect(sentStatuses[id].at(-1) === status || status === before[id]).to.equal(true);
        }
      }
    };
    const sentStatuses: Record<"c20" | "c21", string[]> = { c20: [], c21: [] };
    const reading = Promise.all([first, second, slow, slow].map(read));
    // What fails while a mark is waited for is told at the end.
    reading.catch(() => (done = true));
    try {
      for (let n = 0; n < sized(12, 24); n++) {
        const id = n % 2 === 0 ? "c20" : "c21";
        const status = statuses[(n >> 1) % 3]!;
        sentStatuses[id].push(status);
        await mark(id, status);
        known[id] = status;
        for (const edge of [slow, second])
          for (const path of paths) {
            const shown = seen(await reader(edge).get(path), id);
            if (shown !== undefined) expect(shown).to.equal(status);
          }
      }
    } finally {
      done = true;
      await reading;
    }
    expect(reads).to.be.greaterThan(50);
  });
});
