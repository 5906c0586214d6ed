import { expect } from "chai";
import { createFollower } from "#src/feed/follower.ts";
import { addKey, addPartner, bearer, beforeStoring, type Edge, startEdge } from "#test/api/edge.ts";
import { removeStation, serving, writeStations } from "#test/api/reads-country.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { startWorker } from "#test/harness/roles.ts";
import { useInstance } from "#test/harness/use.ts";
import { useEdgeOn } from "#test/api/edge.ts";

/** Stations in a row, a tenth of a degree apart. */
const places = Array.from({ length: 12 }, (_, n) => ({ id: `r${n}`, lat: 50 + n / 10, lon: 30 }));
const around = (n: number): string =>
  `/stations?bbox=${(50 + n / 10 - 0.013).toFixed(3)},29.987,${(50 + n / 10 + 0.013).toFixed(3)},30.013`;
const cacheOf = (answer: Answer): string | null => answer.headers.get("x-service-cache");
const statusOf = (answer: Answer): string => answer.body.stations[0].fuel.status;
/** A follower that nothing wakes: it reads the feed only when it must. */
const unwoken: typeof createFollower = (deps) => {
  const real = createFollower(deps);
  return { ...real, start: () => real.refresh() };
};
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Notes the calls of these functions. Answers what puts the functions back. */
function spyOn<T extends object>(calls: string[], target: T, names: (keyof T & string)[]) {
  return names.map((name) => {
    const own = target[name] as (...args: unknown[]) => unknown;
    const noted = (...args: unknown[]): unknown => {
      calls.push(name);
      return own(...args);
    };
    Object.assign(target, { [name]: noted });
    return () => void Object.assign(target, { [name]: own });
  });
}

describe("rectangles of publishable keys", function () {
  const instance = useInstance({ LOG_LEVEL: "silent" });
  let stopMarks: () => Promise<void>;
  let secret: string;
  let open: Client;
  let other: Client;
  let marker: Client;
  const keys: Record<string, string> = {};

  before(async () => {
    const limits = { rpm: 100_000, daily: 1_000_000 };
    const partner = await addPartner(instance.db, limits);
    secret = await addKey(instance.db, partner);
    keys["default"] = await addKey(instance.db, partner, "publishable");
    for (const ttl of [0, 3, 30]) {
      const id = await addPartner(instance.db, { ...limits, cache_ttl_s: ttl });
      keys[ttl] = await addKey(instance.db, id, "publishable");
    }
    await writeStations(instance.db, places);
  });
  const [first, second] = [useEdgeOn(instance), useEdgeOn(instance)];
  before(async () => {
    stopMarks = await startWorker("marks", instance.config);
    open = clientOf(first, keys["default"]!);
    other = clientOf(second, keys["default"]!);
    marker = clientOf(first, secret);
  });

  after(() => stopMarks?.());

  const clientOf = ({ origin }: Edge, key: string): Client => createClient(origin, key);

  /** Asks until the answer comes from the cache: a process that has just started renews it first. */
  const cached = (client: Client, path: string): Promise<Answer> =>
    until(
      () => client.get(path),
      (answer) => cacheOf(answer) === "hit",
    );
  /** The stored answers that carry this ETag, which stands behind eight characters of a checksum. */
  const entriesOf = async (answer: Answer): Promise<string[]> => {
    const { redis, config } = first.web.services;
    const keys = await redis.keys(`${config.redisPrefix}:rectangle:*`);
    const heads = await Promise.all(keys.map((key) => redis.hget(key, "head")));
    const etag = answer.headers.get("etag")!;
    return keys.filter(
      (_, i) => (JSON.parse(heads[i]?.slice(8) ?? "{}") as { etag?: string }).etag === etag,
    );
  };
  const lifeOf = async (answer: Answer): Promise<number> => {
    const [entry] = await entriesOf(answer);
    return first.web.services.redis.pttl(entry!);
  };

  it("are computed once for all processes, and widened to the grid", async () => {
    const made = await open.get(around(0));
    expect([made.status, cacheOf(made)]).to.deep.equal([200, "miss"]);
    for (const encoding of ["gzip", "br", "identity"]) {
      const again = await other.get(around(0), { "Accept-Encoding": encoding });
      expect(cacheOf(again)).to.equal("hit");
      expect(again.body).to.deep.equal(made.body);
      expect(again.headers.get("etag")).to.equal(made.headers.get("etag"));
      expect(again.headers.get("content-type")).to.equal(made.headers.get("content-type"));
    }
    // Another view on the same cells of the grid.
    expect(cacheOf(await open.get("/stations?bbox=49.984,29.981,50.019,30.0191"))).to.equal("hit");
    const beside = "/stations?bbox=50.001,30.001,50.009,30.009";
    expect((await open.get(beside)).body.count).to.equal(1);
    const etag = made.headers.get("etag")!;
    const same = await other.get(around(0), { "If-None-Match": etag });
    expect([same.status, cacheOf(same)]).to.deep.equal([304, "hit"]);
    expect(Date.parse(same.headers.get("x-as-of")!)).to.equal(Date.parse(made.body.as_of));
    expect(cacheOf(await open.get(`${around(0)}&status=yes`))).to.equal("miss");
    expect(cacheOf(await open.get("/stations?bbox=48,30,49,31"))).to.equal("miss");
  });

  it("come in every form from the cache, with the headers of that form", async () => {
    for (const Accept of ["application/geo+json", "application/x-ndjson"])
      for (const encoding of ["gzip", "identity"]) {
        const headers = { ...bearer(keys["default"]!), Accept, "Accept-Encoding": encoding };
        const path = `${around(2)}&fresh_h=${encoding.length}`;
        const ask = async ({ url }: Edge) => {
          const answer = await fetch(`${url}${path}`, { headers });
          const own = ["content-type", "etag", "vary", "x-count", "x-as-of", "x-truncated"];
          return {
            word: answer.headers.get("x-service-cache"),
            rest: [answer.status, await answer.text(), ...own.map((h) => answer.headers.get(h))],
          };
        };
        const made = await ask(first);
        const found = await ask(second);
        expect([made.word, found.word]).to.deep.equal(["miss", "hit"]);
        expect(found.rest).to.deep.equal(made.rest);
      }
  });

  it("are stored once, however they are packed, and each caller gets what it takes", async () => {
    const ask = async ({ url }: Edge, path: string, accepted: string) => {
      const headers = { ...bearer(keys["default"]!), "Accept-Encoding": accepted };
      const answer = await fetch(url + path, { headers });
      expect(answer.status).to.equal(200);
      const word = answer.headers.get("x-service-cache");
      const coding = answer.headers.get("content-encoding") ?? "identity";
      return { word, coding, text: await answer.text(), etag: answer.headers.get("etag") };
    };
    const all = "gzip, deflate, br";
    // Stored as: brotli, for who takes it or nothing; gzip for who takes that alone or more.
    const stored = {
      [all]: "br",
      br: "br",
      identity: "br",
      gzip: "gzip",
      "br;q=0.5, gzip": "gzip",
    };
    for (const [n, [maker, as]] of Object.entries(stored).entries()) {
      const path = `/stations?bbox=50,30,51.0${n + 1},31&sort=distance`;
      const made = await ask(first, path, maker);
      expect(made.word).to.equal("miss");
      for (const edge of [second, first])
        for (const taker of [...Object.keys(stored), "gzip;q=0.5, br"]) {
          const found = await ask(edge, path, taker);
          const takesIt = taker.includes(as);
          const other = taker.includes("gzip") ? "gzip" : taker;
          expect({ maker, taker, ...found }).to.deep.equal({
            ...{ maker, taker, word: "hit", etag: made.etag, text: made.text },
            coding: takesIt ? as : other,
          });
        }
    }
  });

  it("are answered from the cache without a query, serialising or packing", async () => {
    const ask = (): Promise<Answer> => other.get(around(2));
    const made = await ask();
    const { model, lists, follower } = second.web.services;
    const calls: string[] = [];
    const restore = [
      // Not `drain`: a timer of the process calls it every `POLL_MS`, whatever is asked.
      ...spyOn(calls, model, ["query", "nextChange", "page"]),
      ...spyOn(calls, lists, ["gzip", "pack", "send"]),
      ...spyOn(calls, follower, ["refresh"]),
    ];
    const [hit, same] = [
      await ask(),
      await other.get(around(2), { "If-None-Match": made.headers.get("etag")! }),
    ];
    const whileHit = calls.splice(0);
    const beside = await other.get(`${around(2)}&has_price=true`);
    restore.forEach((put) => put());
    expect([hit, same, beside].map(cacheOf)).to.deep.equal(["hit", "hit", "miss"]);
    expect(hit.body).to.deep.equal(made.body);
    expect(whileHit).to.deep.equal([]);
    // The spies see what a miss calls.
    expect(calls).to.include.members(["query", "nextChange", "pack"]);
  });

  it("are computed once for requests that come at the same time", async () => {
    const path = "/stations?bbox=50.2,29.9,50.9,30.1";
    const calls: string[] = [];
    const restore = spyOn(calls, first.web.services.model, ["query"]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => open.get(path)));
    restore.forEach((put) => put());
    expect(answers.map(cacheOf).sort()).to.deep.equal([...Array(7).fill("hit"), "miss"]);
    expect(calls).to.deep.equal(["query"]);
  });

  it("are exact, never cached and tagged apart for a secret key", async () => {
    const path = "/stations?bbox=50.30,29.99,50.31,30.01";
    const etags = new Set([(await open.get(path)).headers.get("etag")]);
    for (let i = 0; i < 2; i++) {
      const answer = await marker.get(path);
      expect(cacheOf(answer)).to.equal("miss");
      etags.add(answer.headers.get("etag"));
    }
    expect(etags.size).to.equal(2);
    expect((await marker.get("/stations?bbox=50.001,30.001,50.009,30.009")).body.count).to.equal(0);
  });

  it("live as long as the partner's setting says: 0 is never", async () => {
    const ask = (key: string): Promise<Answer> => clientOf(first, keys[key]!).get(around(4));
    const made = [await ask("0"), await ask("0"), await ask("3"), await ask("3"), await ask("30")];
    expect(made.map(cacheOf)).to.deep.equal(["miss", "miss", "miss", "hit", "miss"]);
    expect(cacheOf(await ask("default"))).to.equal("miss");
    await later(3100);
    const then = [await ask("3"), await ask("30"), await ask("default")];
    expect(then.map(cacheOf)).to.deep.equal(["miss", "hit", "hit"]);
    const { redis } = first.web.services;
    const lives = await Promise.all((await entriesOf(then[0]!)).map((key) => redis.pttl(key)));
    // Longer than any that was asked for, however long this took.
    expect(Math.max(...lives)).to.be.within(31_000, 60_000);
  });

  it("are not kept past the next expiry inside them", async () => {
    const soon = Date.now() - 24 * 3600_000 + 15_000;
    await writeStations(instance.db, [{ ...places[5]!, state: serving("yes", soon) }]);
    const made = await until(
      () => open.get(around(5)),
      (answer) => statusOf(answer) === "yes",
    );
    const shared = await until(
      () => other.get(around(5)),
      (answer) => statusOf(answer) === "yes",
    );
    expect(cacheOf(shared)).to.equal("hit");
    expect(await lifeOf(made)).to.be.within(1, 15_000);
    const gone = await until(
      () => other.get(around(5)),
      (answer) => statusOf(answer) === "nodata",
    );
    expect(cacheOf(gone)).to.equal("miss");
  });

  it("show a mark in the next read of any process after its 200, and leave others alone", async () => {
    await open.get(around(7));
    for (const [n, status] of ["yes", "low", "queue"].entries()) {
      for (const client of [open, other]) await client.get(around(6));
      const mark = await marker.mark(places[6]!, `driver ${n}`, { status });
      expect(mark.body.published.outcome).to.equal("published");
      const read = await other.get(around(6));
      expect([cacheOf(read), statusOf(read)]).to.deep.equal(["miss", status]);
      expect(cacheOf(await open.get(around(6)))).to.equal("hit");
    }
    expect(cacheOf(await other.get(around(7)))).to.equal("hit");
  });

  it("show a mark once its report says processed, and once a repeat of it is answered", async () => {
    const body = { status: "low", external_id: "x1" };
    const sent = await marker.mark(places[8]!, "hasty", body, { Prefer: "respond-async" });
    expect(sent.status).to.equal(202);
    const path = `/reports/${sent.body.report_id}`;
    await until(
      () => clientOf(second, secret).get(path),
      (report) => report.body.state === "processed",
    );
    expect(statusOf(await open.get(around(8)))).to.equal("low");
    const repeated = await clientOf(second, secret).mark(places[8]!, "hasty", body);
    expect(repeated.body).to.deep.include({ duplicate: true });
    expect(repeated.body.fuel.status).to.equal("low");
  });

  it("are dropped by imports and removals within a second", async () => {
    const whole = "/stations?bbox=50.88,29.9,50.92,30.1";
    await open.get(whole);
    expect(cacheOf(await other.get(whole))).to.equal("hit");
    await writeStations(instance.db, [{ ...places[9]!, name: "Neu" }]);
    await until(
      () => other.get(whole),
      (answer) => answer.body.stations[0].name === "Neu",
    );
    await removeStation(instance.db, places[9]!.id);
    await until(
      () => open.get(whole),
      (answer) => answer.body.count === 0,
    );
  });

  it("are computed anew when a change is taken back: the same content, not the answer from before", async () => {
    const path = around(1);
    const named = async (name: string): Promise<Answer> => {
      await writeStations(instance.db, [{ ...places[1]!, name }]);
      return until(
        () => open.get(path),
        (answer) => answer.body.stations[0].name === name,
      );
    };
    const before = await named("A");
    expect(cacheOf(await other.get(path))).to.equal("hit");
    await named("B");
    const after = await named("A");
    expect(after.headers.get("etag")).to.equal(before.headers.get("etag"));
    expect(cacheOf(after)).to.equal("miss");
    const shared = await until(
      () => other.get(path),
      (answer) => answer.body.stations[0].name === "A",
    );
    expect(cacheOf(shared)).to.equal("hit");
  });

  it("show a mark although the worker died between its commit and the invalidation", async () => {
    await stopMarks();
    // What this one raises nobody looks at; it finds the marks by looking.
    const apart = { ...instance.config, redisPrefix: `${instance.redisPrefix}apart`, sweepMs: 50 };
    stopMarks = await startWorker("marks", apart);
    const slow = await startEdge(instance.config, { follower: unwoken });
    const lagging = clientOf(slow, keys["default"]!);
    await cached(lagging, around(3));
    const mark = await marker.mark(places[3]!, "somebody", { status: "no" });
    expect(mark.body.published.outcome).to.equal("published");
    expect(statusOf(await lagging.get(around(3)))).to.equal("no");
    await slow.stop();
    await stopMarks();
    stopMarks = await startWorker("marks", instance.config);
  });

  describe("computed before a mark by a process that lags, and stored after it", () => {
    let slow: Edge;
    let release: () => void;
    let stored: Promise<Answer>;
    let fail = false;
    let held = false;

    before(async () => {
      const gate = new Promise<void>((resolve) => (release = resolve));
      slow = await startEdge(instance.config, {
        follower: (deps) => {
          const real = unwoken(deps);
          const refresh = async (): Promise<void> =>
            fail ? Promise.reject(new Error("away")) : real.refresh();
          return { ...real, refresh };
        },
      });
      beforeStoring(slow, () => (held ? gate : Promise.resolve()));
    });
    after(() => slow.stop());

    it("are not found by anyone, nor served by that process", async () => {
      const lagging = clientOf(slow, keys["default"]!);
      await cached(lagging, around(2));
      held = true;
      let answered = false;
      stored = lagging.get(around(10)).then((answer) => {
        answered = true;
        return answer;
      });
      await later(200);
      expect(answered).to.equal(false);
      const mark = await marker.mark(places[10]!, "racer", { status: "yes" });
      expect(mark.status).to.equal(200);
      held = false;
      release();
      const before = await stored;
      expect([cacheOf(before), statusOf(before)]).to.deep.equal(["miss", "nodata"]);
      // The old rectangle lies in the cache now. Whoever asks is shown the mark, the one that lagged first of all.
      for (const client of [lagging, other, open, lagging])
        expect(statusOf(await client.get(around(10)))).to.equal("yes");
      expect(cacheOf(await lagging.get(around(10)))).to.equal("hit");
    });

    it("are not served nor stored by a process that cannot catch up", async () => {
      const lagging = clientOf(slow, keys["default"]!);
      await cached(lagging, around(11));
      await marker.mark(places[11]!, "another", { status: "yes" });
      fail = true;
      expect(cacheOf(await lagging.get(around(11)))).to.equal("miss");
      fail = false;
      expect(statusOf(await lagging.get(around(11)))).to.equal("yes");
    });
  });
});
