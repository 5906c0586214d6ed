import { expect } from "chai";
import { minuteMs } from "#src/domain/units.ts";
import { createFollower } from "#src/feed/follower.ts";
import { createIdTable } from "#src/feed/id-table.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createPeers } from "#src/infrastructure/peers.ts";
import { canaryText } from "#src/keys/canary-key.ts";
import type { Format } from "#snapshots/model/forms.ts";
import { createReadModel } from "#snapshots/model/model.ts";
import { type Edge, startEdge } from "#test/api/edge.ts";
import { type Entry, removeStation, serving, writeStations } from "#test/api/reads-country.ts";
import { until } from "#test/flow/client.ts";
import { sized } from "#test/harness/long.ts";
import { startTcpProxy, type TcpProxy } from "#test/harness/tcp-proxy.ts";
import { use, useInstance } from "#test/harness/use.ts";
import { asks, createCanary } from "#workers/snapshots/canary.ts";
import { createDumpDuty } from "#workers/snapshots/dumps.ts";

const log = createLog({ logLevel: "silent" }, "test");
const count = sized(700, 10_100);
const now = Date.now();
const stationOf = (n: number): Entry => ({
  ...{
    id: `n${10_000 + n}`,
    lat: 55 + n / 1000,
    lon: 37 - n / 3000,
    brand: ["", "=1+1", "Лукойл"][n % 3]!,
  },
  ...{ name: `№ ${n}, "А" },{"id":"x`, addr: n % 5 === 0 ? "line\nfeed" : "ß, 日本" },
  state: serving(n % 2 === 0 ? "yes" : "low", now - n * 1000, { fuelsNow: ["95"] }),
});

describe("worker: the canary (decisions 16.41)", function () {
  this.timeout(300_000);
  const instance = useInstance({ LOG_LEVEL: "silent" });
  let spoil = (chunk: Buffer): Buffer => chunk;
  const parts = use(
    async () => {
      const { config, db } = instance;
      const all = Array.from({ length: count }, (_, n) => stationOf(n));
      for (let from = 0; from < count; from += 1000)
        await writeStations(db, all.slice(from, from + 1000));
      const web = await startEdge(config);
      const proxy = await startTcpProxy(web.port, (chunk) => spoil(chunk));
      const { redis } = web.web.services;
      const deps = { config, db, log, clock: Date.now, redis };
      const ids = createIdTable();
      const model = createReadModel({ lifetimeMs: config.statusLifetimeMs, inIdOrder: true, ids });
      const onRows = (found: Parameters<typeof model.apply>[0]): void =>
        model.apply(found, Date.now());
      const follower = createFollower({ ...deps, onRows, ids, inIdOrder: true });
      await follower.start();
      // Beside that of the service, so that the canary knows no other address.
      const apart = { ...deps, config: { ...config, redisPrefix: `${config.redisPrefix}:apart` } };
      const peers = createPeers({ ...apart, role: "snapshots" });
      const other = createPeers({ ...apart, role: "web" });
      other.tell(() => ({ urls: ["http://127.0.0.1:1", `http://127.0.0.1:${proxy.port}`] }));
      await other.start();
      const more = { ...deps, peers, model, follower, ids };
      return {
        web,
        proxy,
        other,
        follower,
        canary: createCanary(more),
        dump: createDumpDuty(more),
      };
    },
    async ({ web, proxy, follower, other }) => {
      await other.stop();
      await proxy.close();
      await follower.stop();
      await web.stop();
    },
  ) as { web: Edge; proxy: TcpProxy } & Record<
    "canary" | "dump",
    (turn?: number) => Promise<unknown>
  >;

  // Whatever was broken is right again, so that the next test begins anew.
  afterEach(async () => {
    spoil = (chunk) => chunk;
    expect(await parts.canary(0)).to.equal(undefined);
  });
  const alarms = async () => {
    const sql = "delete from alarms returning kind, subject, details";
    return rows<{ kind: string; subject: string; details: { fault: string } }>(instance.db, sql);
  };
  const turnOf = (format: string, way: string, coding: string): number =>
    asks.findIndex((ask) => ask.format === format && ask.way === way && ask.coding === coding);
  /** Two runs of an ask: the first tells nobody yet, the second finds the same and raises an alarm. */
  const faultTwice = async (turn: number): Promise<string> => {
    expect(await parts.canary(turn), "the first").to.equal(0);
    expect(await alarms()).to.deep.equal([]);
    // It asks the same again, whatever would be next.
    expect(await parts.canary(turn + 1), "the second").to.equal(1);
    const [alarm, ...more] = await alarms();
    expect(more).to.deep.equal([]);
    expect(alarm).to.include({
      kind: "answers-broken",
      subject: `answer ${asks[turn]!.way} ${asks[turn]!.format}`,
    });
    return alarm!.details.fault;
  };
  const wholeTurn = async (): Promise<void> => {
    for (const turn of asks.keys())
      expect(await parts.canary(turn), JSON.stringify(asks[turn])).to.equal(undefined);
    expect(await alarms()).to.deep.equal([]);
  };

  it("finds nothing where all is right, in every form and coding, without a dump and with one", async () => {
    await wholeTurn();
    await parts.dump();
    const { dumps, model } = parts.web.web.services;
    const whole = () => model.whole(Date.now());
    await until(
      async () => dumps.complete(whole, Date.now()),
      (found) => found !== null,
    );
    await wholeTurn();
  });

  it("raises nothing while stations change, come and go during the reading", async () => {
    let isOver = false;
    const changing = (async () => {
      for (let n = 0; !isOver; n = (n + 1) % count) {
        const entry = stationOf(n);
        if (n % 7 === 3) await removeStation(instance.db, entry.id);
        else
          await writeStations(instance.db, [
            { ...entry, name: `${Math.random()}` },
            // A few: the tests below begin with the country that this one leaves.
            { ...stationOf(n), id: `o${n % 50}` },
          ]);
      }
    })();
    await wholeTurn();
    isOver = true;
    await changing;
  });

  type Spoilt = (found: string) => string;
  const replaced = (from: RegExp, to: string | Spoilt) => (chunk: Buffer) =>
    Buffer.from(chunk.toString("latin1").replace(from, to as Spoilt), "latin1");
  const spoilt: [string, Format, RegExp, string | Spoilt, RegExp][] = [
    ["a lost separator", "json", /\},\{"id":"n103/, '} {"id":"n103', /JSON/],
    ["a lost separator", "geojson", /\},\{"type":"F/, '} {"type":"F', /JSON/],
    ["two lines in one", "ndjson", /\n\{"id":"n103/, ' {"id":"n103', /JSON/],
    ["two lines in one", "csv", /\nn103/, ",n103", /stations, and says/],
    ["another value", "json", /"status":"low"/, '"status":"yes"', /n1\d+ is another/],
    ["another value", "csv", /,low,95/, ",yes,95", /n1\d+ is another/],
    ["a station twice", "ndjson", /"id":"n10301"/, '"id":"n10300"', /n10300 comes twice/],
    [
      "another count",
      "json",
      /(?<="count":\d*)\d\b/,
      (d) => `${9 - Number(d)}`,
      /stations, and says/,
    ],
    ["a lost line", "csv", /\nn10305,.*/, "", /says|missing|terminated/],
    ["a shorter length", "json", /Content-Length: \d/i, "Content-Length: 1", /JSON/],
  ];
  for (const [what, format, from, to, fault] of spoilt)
    it(`finds ${what} in ${format}`, async () => {
      spoil = replaced(from, to);
      expect(await faultTwice(turnOf(format, "made", "identity"))).to.match(fault);
    });

  it("finds a lost separator, and another digest, in the changes", async () => {
    const { model, asOf } = parts.web.web.services;
    // The digest is compared only where nothing has changed since `as_of`.
    await until(
      async () => model.lastChange(Date.now())! < asOf(Date.now()),
      (isQuiet) => isQuiet,
    );
    for (const [from, to, fault] of [
      [/\},\{"id":"n103/, '} {"id":"n103', /JSON/],
      [/"digest":"[^"]{3}/, '"digest":"xyz', /digest/],
    ] as const) {
      spoil = replaced(from, to);
      expect(await faultTwice(turnOf("json", "delta", "identity"))).to.match(fault);
      spoil = (chunk) => chunk;
      expect(await parts.canary(0)).to.equal(undefined);
    }
  });

  it("finds a compressed answer that cannot be unpacked", async () => {
    for (const coding of ["gzip", "br"]) {
      spoil = (chunk) => {
        const copy = Buffer.from(chunk);
        if (chunk.length > 4000) copy.fill(0xa5, 2000, 2100);
        return copy;
      };
      expect(await faultTwice(turnOf("json", "made", coding))).not.to.equal("");
      spoil = (chunk) => chunk;
      expect(await parts.canary(0)).to.equal(undefined);
    }
  });

  it("finds a process that does not serve what the database has, and says nothing more when it is mended", async () => {
    const web = parts.web.web.services;
    const id = stationOf(20).id;
    // As if the process had missed a change: it alone has this row.
    const [row] = await rows<{ name: string }>(
      instance.db,
      "select name from stations where id = ?",
      [id],
    );
    await rows(instance.db, "update stations set name = 'by hand' where id = ?", [id]);
    web.follower.forget([id]);
    await until(
      async () => String(web.model.station(id, Date.now())?.fragment),
      (text) => text.includes("by hand"),
    );
    expect(await faultTwice(turnOf("json", "made", "br"))).to.equal(
      `${id} is another than in the database`,
    );
    await rows(instance.db, "update stations set name = ? where id = ?", [row!.name, id]);
    web.follower.forget([id]);
    await until(
      async () => String(web.model.station(id, Date.now())?.fragment),
      (text) => !text.includes("by hand"),
    );
  });

  it("raises nothing when no process can be asked, and does not count as done", async () => {
    parts.proxy.set("cut");
    expect(String(await parts.canary())).to.equal("Symbol(left out)");
    parts.proxy.set("pass");
    expect(await alarms()).to.deep.equal([]);
  });

  it("is let in by what only the service's processes know, to read, and is counted nowhere", async () => {
    const { config, db, web } = parts.web;
    const ask = async (
      text: string,
      method = "GET",
      path = "stations/all?limit=1",
    ): Promise<number> => {
      const url = `${parts.web.origin.replace(/\d+$/, `${parts.proxy.port}`)}/api/v1/partner/${path}`;
      return (await fetch(url, { method, headers: { Authorization: `Bearer ${text}` } })).status;
    };
    expect(await ask(canaryText(config, Date.now()))).to.equal(200);
    expect(await ask(canaryText(config, Date.now() + minuteMs))).to.equal(200);
    const another = canaryText({ reporterPepper: "pepper of a stranger" }, Date.now());
    const old = canaryText(config, Date.now() - 3 * minuteMs);
    for (const text of [another, old, "canary_", old.slice(0, -1), `${another.slice(0, -1)}ж`])
      expect(await ask(encodeURI(text)), text).to.equal(401);
    const right = canaryText(config, Date.now());
    expect(await ask(right, "POST")).to.equal(401);
    for (const path of ["usage", "webhooks", "cities", "stations/n10000", "stations/stream"])
      expect(await ask(right, "GET", path), path).to.equal(401);
    // A refused one is counted nowhere either.
    expect(await ask(right, "GET", "stations/all?limit=none")).to.equal(422);
    const keys = await web.services.redis.keys(`*${config.redisPrefix.slice(1, -1)}.p0*`);
    expect(keys).to.deep.equal([]);
    expect(await rows(db, "select from usage_days limit 1")).to.deep.equal([]);
  });
});
