import { expect } from "chai";
import { createServerTime } from "#src/infrastructure/server-time.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createPeers } from "#src/infrastructure/peers.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { createQuarantine } from "#src/infrastructure/quarantine.ts";
import { createRedis, createWorkerRedis } from "#src/infrastructure/redis.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { formatTime } from "#src/domain/time.ts";
import { startWorker } from "#test/harness/roles.ts";
import { createSnapshotsRole } from "#workers/snapshots/role.ts";
import { addKey, addPartner, type Edge, startEdge, useEdgeOn } from "#test/api/edge.ts";
import { removeStation, serving, writeStations } from "#test/api/reads-country.ts";
import { createClient as createPartnerClient } from "#client/client.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";

const hourMs = 3600_000;

describe("station reads", function () {
  const instance = useInstance({
    LOG_LEVEL: "silent",
    SLOT_MS: "1000",
    DUMP_MAX_AGE_MS: "3000",
  });
  let key: string;
  let open: string;
  let secret: Client;
  let other: Client;
  let publishable: Client;
  const now = Date.now();

  before(async () => {
    const { db } = instance;
    const partner = await addPartner(db, { rpm: 100_000, daily: 1_000_000 });
    key = await addKey(db, partner);
    open = await addKey(db, partner, "publishable");
    const [novosibirsk, oryol] = [
      { name: "Новосибирск", lat: 55.03, lon: 82.92 },
      { name: "Орёл", lat: 52.97, lon: 36.06 },
    ];
    await db("cities").insert([
      { id: "1", source: "t", region: "НСО", population: 1_620_000, ...novosibirsk },
      { id: "2", source: "t", region: "Орловская", population: 299_000, ...oryol },
      { id: "4", source: "t", region: "малый", population: 5, ...novosibirsk, lat: 10, lon: 10 },
    ]);
    await writeStations(db, [
      {
        id: "n1",
        lat: 55.03,
        lon: 82.92,
        brand: "Лукойл",
        name: "АЗС 1",
        addr: "Красный проспект",
        state: serving("yes", now - hourMs, { fuelsNow: ["92", "95"], queue: "20+" }),
      },
      {
        id: "n2",
        lat: 55.05,
        lon: 82.92,
        brand: "ЛУКОЙЛ",
        name: "Берёзка",
        state: serving("no", now - 5 * hourMs),
      },
      { id: "n3", lat: 55.2, lon: 83, brand: "Shell" },
      { id: "w4", lat: 60, lon: 30 },
    ]);
  });
  const [first, second] = [useEdgeOn(instance), useEdgeOn(instance)];
  before(() => {
    secret = createClient(first.origin, key);
    other = createClient(second.origin, key);
    publishable = createClient(first.origin, open);
  });

  const ids = async (path: string): Promise<string[]> => {
    const { status, body } = await secret.get(path);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.stations.map((station: { id: string }) => station.id);
  };
  const area = "bbox=50,80,57,85";

  it("gives the stations of a rectangle in the list envelope", async () => {
    const { status, headers, body } = await secret.get(`/stations?${area}`);
    expect(status).to.equal(200);
    expect(headers.get("x-service-cache")).to.equal("miss");
    expect(headers.get("etag")).to.match(/^W\/"[\w-]{22}"$/);
    expect(headers.get("x-as-of")).to.equal(null);
    expect(Object.keys(body)).to.deep.equal([
      "stations",
      "count",
      "as_of",
      "stale_after_hours",
      "truncated",
    ]);
    expect(body).to.include({ count: 3, stale_after_hours: 24, truncated: false });
    const one = body.stations.find(({ id }: { id: string }) => id === "n1");
    expect(Object.keys(one)).to.deep.equal(["id", "lat", "lon", "brand", "name", "addr", "fuel"]);
    expect(one.fuel).to.include({ status: "yes", fuels_now: "92,95", queue: "20+" });
  });

  it("asks Postgres for an id that is none of ours once in a while, and never for a page", async () => {
    const { db } = instance;
    await writeStations(db, [{ id: "test-own9", lat: 5, lon: 5 }]);
    let queries = 0;
    const count = ({ sql }: { sql: string }) =>
      void (queries += Number(sql.includes("stations_by_own_id")));
    first.db.on("query", count);
    const one = (client: Client, id: string) => client.get(`/stations/${id}`);
    for (let times = 0; times < 3; times += 1)
      expect((await one(publishable, "own9")).status).to.equal(404);
    expect(queries).to.equal(0);
    await Promise.all(Array.from({ length: 5 }, () => one(secret, "nobody")));
    for (let times = 0; times < 3; times += 1)
      expect((await one(secret, "nobody")).status).to.equal(404);
    expect(queries).to.be.within(1, 2);
    await until(
      () => one(other, "own9"),
      ({ status }) => status === 200,
    );
    first.db.off("query", count);
    await removeStation(db, "test-own9");
  });

  it("gives a station whose id is a word of a route, when a letter of it is percent-encoded", async () => {
    const { db } = instance;
    const words = ["all", "along", "delta", "stream"];
    const at = { lat: 5, lon: 5 };
    // The last one is the id of a source.
    const named = words.map((id, n) => ({ id: n === 3 ? `test-${id}` : id, ...at }));
    await writeStations(db, named);
    const library = createPartnerClient({ baseUrl: first.origin, key });
    for (const [n, word] of words.entries()) {
      const coded = `%${word.charCodeAt(0).toString(16)}${word.slice(1)}`;
      await until(
        () => secret.get(`/stations/${coded}`),
        ({ body }) => body.station?.id === named[n]!.id,
      );
      expect((await library.station(word)).station.id).to.equal(named[n]!.id);
      if (n === 3) continue;
      expect((await publishable.get(`/stations/${coded}`)).body.station.id).to.equal(word);
      expect((await publishable.get(`/stations/${coded}/history`)).status).to.equal(200);
      expect((await fetch(`${first.origin}/s/${word}`)).status).to.equal(200);
    }
    expect((await secret.get("/stations/all")).body.stations).to.be.an("array");
    for (const { id } of named) await removeStation(db, id);
    for (const web of [secret, other])
      await until(
        () => web.get("/stations/all"),
        ({ body }) => body.stations.every(({ lat }: { lat: number }) => lat !== at.lat),
      );
  });

  it("looks around a city and orders by distance", async () => {
    const city = `city=${encodeURIComponent("НОВОСИБИРСК")}`;
    expect((await ids(`/stations?${city}&radius_km=10`)).sort()).to.deep.equal(["n1", "n2"]);
    expect(await ids(`/stations?${city}&sort=distance`)).to.deep.equal(["n1", "n2", "n3"]);
    expect(await ids(`/stations?${city}&radius_km=0.5`)).to.deep.equal(["n1"]);
    expect(await ids(`/stations?bbox=59,29,61,31&${city}`)).to.deep.equal(["w4"]);
    expect(await ids(`/stations?city=${encodeURIComponent("орел")}`)).to.deep.equal([]);
  });

  it("refuses what it cannot read, each with its code", async () => {
    const cases: [string, number, string][] = [
      ["/stations", 422, "missing-area"],
      ["/stations?bbox=&city=", 422, "missing-area"],
      ["/stations?bbox=1,2,3", 422, "bad-bbox"],
      ["/stations?bbox=5,1,4,2", 422, "bad-bbox"],
      ["/stations?bbox=a,1,4,2", 422, "bad-bbox"],
      ["/stations?bbox=1,1,91,2", 422, "bad-bbox"],
      ["/stations?bbox=1,1,2,181", 422, "bad-bbox"],
      ["/stations?city=Nowhere", 404, "city-not-found"],
      [`/stations?${area}&city=Nowhere`, 404, "city-not-found"],
      [`/stations?${area}&status=full`, 422, "validation-failed"],
      [`/stations?${area}&queue=7`, 422, "validation-failed"],
      [`/stations?${area}&fuel=93`, 422, "bad-grade"],
      [`/stations?${area}&fresh_h=25`, 422, "validation-failed"],
      [`/stations?${area}&sort=name`, 422, "validation-failed"],
      ["/stations?city=x&radius_km=0", 422, "validation-failed"],
      ["/stations?city=x&radius_km=61", 422, "validation-failed"],
      ["/stations/n9", 404, "station-not-found"],
      ["/stations/..%2F%00", 404, "station-not-found"],
      ["/stations/delta", 422, "validation-failed"],
      ["/stations/delta?updated_since=yesterday", 422, "bad-timestamp"],
      [
        `/stations/delta?updated_since=${formatTime(Date.now() - 48 * hourMs - 2000)}`,
        422,
        "window-too-old",
      ],
      ["/stations/all?cursor=xyz", 422, "bad-cursor"],
      ["/stations/all?limit=30001", 422, "validation-failed"],
      ["/cities?limit=0", 422, "validation-failed"],
      ["/cities?limit=201", 422, "validation-failed"],
    ];
    for (const [path, status, code] of cases) {
      const answer = await secret.get(path);
      expect([answer.status, answer.body.type.split("/").at(-1)], path).to.deep.equal([
        status,
        code,
      ]);
    }
  });

  it("tells filter sets, areas and kinds of key apart by their ETags", async () => {
    const tags = new Set<string | null>();
    for (const path of [
      area,
      `${area}&status=yes,low,no,queue,nodata`,
      "bbox=50,80,57,86",
      `${area}&sort=distance`,
    ])
      tags.add((await secret.get(`/stations?${path}`)).headers.get("etag"));
    tags.add((await publishable.get(`/stations?${area}`)).headers.get("etag"));
    expect(tags.size).to.equal(5);
    const spelt = await secret.get(`/stations?bbox=50.0,80.0,%2057,85.00&status=`);
    expect(tags.has(spelt.headers.get("etag"))).to.equal(true);
  });

  it("takes a blank filter for none, in every form", async () => {
    for (const filter of ["brand=%20", "q=%20", "status=", "fuel=%20,", "queue=", "sells="]) {
      expect(await ids(`/stations/all?${filter}`), filter).to.deep.equal(["n1", "n2", "n3", "w4"]);
      const features = await secret.get(`/stations/all.geojson?${filter}`);
      expect(features.status, JSON.stringify(features.body)).to.equal(200);
      expect(features.body.count, filter).to.equal(4);
    }
  });

  it("pages through the country in id order under one as_of", async () => {
    const one = await secret.get("/stations/all?limit=3");
    expect(one.body.stations.map(({ id }: { id: string }) => id)).to.deep.equal(["n1", "n2", "n3"]);
    const cursor = encodeURIComponent(one.body.next_cursor);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const two = await other.get(`/stations/all?limit=3&cursor=${cursor}`);
    expect(two.body.stations.map(({ id }: { id: string }) => id)).to.deep.equal(["w4"]);
    expect(two.body).to.include({ as_of: one.body.as_of, next_cursor: "", count: 1 });
    const refused = await secret.get(`/stations/all?limit=3&cursor=${cursor}&status=yes`);
    expect(refused.body.type).to.match(/bad-cursor$/);
    expect(await ids("/stations/all?status=nodata&bbox=nonsense&sort=nonsense")).to.deep.equal([
      "n3",
      "w4",
    ]);
  });

  it("shows changes, removals and expiry in every read, and in the delta", async () => {
    const { body: before } = await secret.get("/stations/all");
    const since = encodeURIComponent(before.as_of);
    const { db } = first;
    const soon = Date.now() + 60_000;
    await writeStations(db, [
      { id: "n5", lat: 55.01, lon: 82.9, name: "Новая", state: serving("yes", soon - 24 * hourMs) },
    ]);
    await removeStation(db, "w4");
    const delta = await until(
      () => other.get(`/stations/delta?updated_since=${since}`),
      ({ body }) => body.removed.includes("w4"),
    );
    expect(Object.keys(delta.body)).to.include("removed");
    const five = (list: { id: string; fuel: { status: string } }[]) =>
      list.find(({ id }) => id === "n5");
    expect(five(delta.body.stations)?.fuel.status).to.equal("yes");
    expect((await other.get("/stations/w4")).status).to.equal(404);
    const tag = (await other.get(`/stations?${area}`)).headers.get("etag") as string;
    const mid = encodeURIComponent(formatTime(soon - 500));

    const then = await startEdge(instance.config, { clock: () => Date.now() + 61_000 });
    const later = createClient(then.origin, key);
    const after = await later.get(`/stations?${area}`, { "If-None-Match": tag });
    expect(after.status).to.equal(200);
    expect(five(after.body.stations)?.fuel.status).to.equal("nodata");
    const expired = await later.get(`/stations/delta?updated_since=${mid}`);
    expect(five(expired.body.stations)?.fuel.status).to.equal("nodata");
    expect((await later.get("/stations/n5")).body.station.fuel.status).to.equal("nodata");
    await then.stop();
  });

  describe("with the snapshots role", () => {
    let stop: () => Promise<void>;
    before(async () => {
      const { config } = instance;
      const log = createLog(config, "snapshots");
      const db = createDb(config, "snapshots");
      const redis = createRedis(config, log);
      const workerRedis = createWorkerRedis(config, log);
      const producer = createProducer(config, log);
      const time = createServerTime({ config, db, redis, log });
      const clock = time.now;
      const peers = createPeers({ role: "snapshots", config, log, clock, db, redis });
      const role = createSnapshotsRole({
        ...{ config, db, log, clock, time, peers, redis, quarantine: createQuarantine(log) },
        workerRedis: () => workerRedis,
        producer: () => producer,
      });
      await role.start();
      const stopClock = await startWorker("clock", config);
      stop = async () => {
        await stopClock();
        await role.stop();
        await producer.close();
        redis.disconnect();
        workerRedis.disconnect();
        await db.destroy();
      };
    });
    after(() => stop?.());

    const dumpSeq = (edge: Edge): number | undefined =>
      (edge.web.services.dumps.condition(Date.now()).detail as { seq?: number } | undefined)?.seq;

    it("serves the dump, in every encoding, as the model would", async () => {
      await until(
        async () => [dumpSeq(first), dumpSeq(second)],
        (seqs) => seqs.every(Boolean),
      );
      const path = "/stations/all?limit=30000";
      const model = await secret.get(`${path}&q=%20`);
      for (const encoding of ["gzip", "br", "identity"]) {
        const answer = await other.get(path, { "Accept-Encoding": encoding });
        expect(answer.status).to.equal(200);
        const sent = answer.headers.get("content-encoding") ?? "identity";
        expect(sent).to.equal(encoding);
        expect(answer.body.stations).to.deep.equal(model.body.stations);
        expect(answer.body).to.include({ count: 4, next_cursor: "", truncated: false });
      }
    });

    it("serves the longest page of a larger country from the dump too", async () => {
      const { dumps } = first.web.services;
      const { complete } = dumps;
      const tagOf = async (): Promise<string | null> =>
        (await secret.get("/stations/all?limit=30000")).headers.get("etag");
      const tag = await tagOf();
      dumps.complete = (whole, now) => ({ ...complete(whole, now)!, count: 30_001 });
      try {
        expect(await tagOf()).to.not.equal(tag);
      } finally {
        dumps.complete = complete;
      }
    });

    it("takes a change into the next dump and keeps the dump young", async () => {
      const { services } = first.web;
      const path = "/stations/all?limit=30000";
      const tag = (await secret.get(path)).headers.get("etag") as string;
      await writeStations(first.db, [{ id: "n6", lat: 55, lon: 82, name: "Шестая" }]);
      const seq = await until(
        async () => services.follower.seq(),
        (found) => found > 0,
      );
      const changed = await until(
        () => other.get(path, { "If-None-Match": tag }),
        ({ status }) => status === 200,
      );
      expect(changed.body.stations).to.have.length(5);
      await until(
        async () => dumpSeq(second),
        (found) => (found ?? 0) >= seq,
      );
      const known = { "If-None-Match": changed.headers.get("etag") as string };
      await until(
        () => secret.get(path, known),
        ({ status }) => status === 304,
      );
      const builtAt = (): number | undefined =>
        services.dumps.complete(() => services.model.whole(Date.now()), Date.now())?.builtAtMs;
      const early = await until(async () => builtAt(), Boolean);
      await until(
        async () => builtAt(),
        (late) => late !== undefined && late > (early as number),
      );
    });

    it("stores a new dump after Redis was wiped, and answers meanwhile", async () => {
      const { redis } = first.web.services;
      await redis.del(`${instance.redisPrefix}:dump:5`);
      expect((await secret.get("/stations/all")).body.count).to.equal(5);
      await until(() => redis.exists(`${instance.redisPrefix}:dump:5`), Boolean);
    });
  });
});
