import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { setName } from "#snapshots/dumps/dump.ts";
import { fixedSets } from "#snapshots/dumps/fixed-sets.ts";
import type { Filters } from "#snapshots/model/filters.ts";
import { addKey, addPartner } from "#test/api/edge.ts";
import { serving, writeStations } from "#test/api/reads-country.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { startWorker } from "#test/harness/roles.ts";
import { useInstance } from "#test/harness/use.ts";
import { useEdgeOn } from "#test/api/edge.ts";

const places = Array.from({ length: 30 }, (_, n) => ({
  id: `s${10 + n}`,
  lat: 50 + n / 10,
  lon: 30,
  brand: n % 2 === 0 ? "Even" : "Odd",
}));

describe("dumps of the filter sets asked for", function () {
  const settings = {
    LOG_LEVEL: "silent",
    SLOT_MS: "500",
    DUMP_MAX_AGE_MS: "2000",
    ASKED_SETS: "20",
  };
  const instance = useInstance(settings);
  let key: string;
  let clients: Client[];
  let stopRole: () => Promise<void>;

  before(async () => {
    const partner = await addPartner(instance.db, { rpm: 100_000, daily: 1_000_000 });
    key = await addKey(instance.db, partner);
    await writeStations(instance.db, places);
  });
  const edges = [useEdgeOn(instance), useEdgeOn(instance)];
  before(async () => {
    clients = edges.map(({ origin }) => createClient(origin, key));
    const stops = [
      await startWorker("snapshots", instance.config),
      await startWorker("clock", instance.config),
    ];
    stopRole = async () => {
      for (const stop of stops) await stop();
    };
  });

  after(() => stopRole?.());

  const dumpsMade = async (): Promise<string[]> => {
    const { redis, config } = edges[0]!.web.services;
    const fixed = fixedSets(() => 0).map(setName);
    const found = await redis.keys(`${config.redisPrefix}:dump:5:*`);
    return found.filter((key) => !fixed.some((name) => key.endsWith(`:${name}`)));
  };
  const nameOf = (filters: Filters, limit = 10_000): string =>
    `${instance.redisPrefix}:dump:5:${setName({ filters, limit })}`;
  const withoutTime = ({ body }: Answer): object => ({ ...body, as_of: "", next_cursor: "" });

  it("are made by the worker, used by every process, and agree with the model", async () => {
    const [first, second] = clients as [Client, Client];
    const paths = ["/stations/all?brand=even&limit=4", "/stations/all?limit=7"];
    for (const path of paths) {
      const model = await first.get(path);
      const queries: number[] = [];
      for (const edge of edges) {
        const { page } = edge.web.services.model;
        edge.web.services.model.page = (query) => {
          queries.push(query.limit);
          return page(query);
        };
      }
      for (const client of [first, second]) {
        await until(
          async () => {
            queries.length = 0;
            return client.get(path);
          },
          () => queries.length === 0,
        );
        for (const encoding of ["gzip", "br", "identity"]) {
          const answer = await client.get(path, { "Accept-Encoding": encoding });
          expect(answer.headers.get("content-encoding") ?? "identity").to.equal(encoding);
          expect(withoutTime(answer)).to.deep.equal(withoutTime(model));
          expect(answer.headers.get("etag")).to.equal(model.headers.get("etag"));
        }
        const etag = model.headers.get("etag")!;
        const same = await client.get(path, { "If-None-Match": etag });
        expect([same.status, same.headers.has("x-as-of")]).to.deep.equal([304, true]);
      }
      expect(queries).to.deep.equal([]);
    }
    expect(await dumpsMade()).to.have.length(2);
  });

  it("lead by their cursor to all the other pages, on any process", async () => {
    const ids: string[] = [];
    const times = new Set<string>();
    let cursor = "";
    for (let n = 0; n === 0 || cursor !== ""; n++) {
      const page = await clients[n % 2]!.get(`/stations/all?limit=7&cursor=${cursor}`);
      ids.push(...page.body.stations.map(({ id }: { id: string }) => id));
      times.add(page.body.as_of);
      cursor = page.body.next_cursor;
    }
    expect(ids).to.deep.equal(places.map(({ id }) => id));
    expect(times.size).to.equal(1);
  });

  it("show a change within a slot and a half, never under the old ETag", async () => {
    const path = "/stations/all?brand=even&limit=4";
    const before = await clients[1]!.get(path);
    const etag = before.headers.get("etag")!;
    const at = Date.now();
    await writeStations(instance.db, [{ ...places[0]!, state: serving("yes", at) }]);
    const changed = await until(
      () => clients[1]!.get(path, { "If-None-Match": etag }),
      ({ status }) => status === 200,
    );
    expect(changed.body.stations[0].fuel.status).to.equal("yes");
    const stored = await until(
      async () => {
        const { redis } = edges[0]!.web.services;
        const bodies = await Promise.all(
          (await dumpsMade()).map((key) => redis.hgetBuffer(key, "gzip")),
        );
        return bodies.map((body) => gunzipSync(body!).toString());
      },
      (texts) => texts.every((text) => text.includes('"status":"yes"')),
    );
    expect(stored).to.have.length(2);
  });

  it("are made of one grade and one status before anybody asks, and serve every page that holds all", async () => {
    const { redis } = edges[0]!.web.services;
    const fixed = fixedSets(() => 0);
    expect(fixed).to.have.length(10);
    for (const { filters } of fixed)
      await until(() => redis.exists(nameOf(filters, 30_000)), Boolean);
    // None of the two default lengths is a set of its own while the longest page holds the same.
    expect(await redis.exists(nameOf({ statuses: ["yes"] }))).to.equal(0);
    const model = await clients[0]!.get("/stations/all?status=nodata&q=%20");
    for (const path of ["/stations/all?status=nodata", "/stations/all?status=nodata&limit=30000"]) {
      const { page } = edges[0]!.web.services.model;
      let pages = 0;
      edges[0]!.web.services.model.page = (query) => {
        pages += 1;
        return page(query);
      };
      const answer = await until(
        async () => {
          pages = 0;
          return clients[0]!.get(path);
        },
        () => pages === 0,
      );
      edges[0]!.web.services.model.page = page;
      expect(withoutTime(answer)).to.deep.equal(withoutTime(model));
    }
    // The default page was asked for more than once, but it is no set of its own.
    const kept = await until(
      async () => {
        const keys = await redis.zrangebyscore(`${instance.redisPrefix}:sets-kept`, "-inf", "+inf");
        return keys.filter((key) => key.includes("nodata"));
      },
      (keys) => keys.length > 0,
    );
    expect(kept.map((key) => key.split(" ")[0])).to.deep.equal(["30000"]);
  });

  it("go out as gzip when they have no brotli, and are compressed for who takes nothing else", async () => {
    const { dumps } = edges[0]!.web.services;
    const path = "/stations/all?status=nodata&limit=30000";
    const got = async (accepted: string) => {
      const answer = await clients[0]!.get(path, { "Accept-Encoding": accepted });
      return [answer.headers.get("content-encoding"), answer.body.stations.length];
    };
    const encodingOf = async (): Promise<string> => String((await got("gzip, br"))[0]);
    await until(encodingOf, (encoding) => encoding === "br");
    const { set } = dumps;
    dumps.set = (...which) => {
      const dump = set(...which);
      return dump && { ...dump, br: Buffer.alloc(0) };
    };
    const count = (await clients[0]!.get(path)).body.stations.length;
    expect(await got("gzip, br")).to.deep.equal(["gzip", count]);
    expect(await got("br")).to.deep.equal(["br", count]);
    expect(await got("identity")).to.deep.equal([null, count]);
    dumps.set = set;
  });

  it("are made from the second request on, by whichever process it comes", async () => {
    const { redis } = edges[0]!.web.services;
    const [once, twice] = [{ words: ["once"] }, { words: ["twice"] }];
    await clients[0]!.get("/stations/all?q=once");
    await clients[0]!.get("/stations/all?q=twice");
    await until(
      () => redis.zcard(`${instance.redisPrefix}:sets-once`),
      (count) => count === 2,
    );
    await clients[1]!.get("/stations/all?q=twice");
    await until(() => redis.exists(nameOf(twice)), Boolean);
    expect(await redis.exists(nameOf(once))).to.equal(0);
    expect(await redis.zcard(`${instance.redisPrefix}:sets-once`)).to.equal(1);
  });

  it("are remembered for as many sets as the setting says", async () => {
    const { redis, config } = edges[0]!.web.services;
    for (let n = 0; n < config.askedSets + 20; n++)
      for (const client of clients) await client.get(`/stations/all?q=nothing${n}`);
    await until(
      () => redis.zcard(`${config.redisPrefix}:sets-kept`),
      (count) => count === config.askedSets,
    );
  });
});
