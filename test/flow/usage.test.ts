import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis, partnerPrefix, type Redis } from "#src/infrastructure/redis.ts";
import { flushUsage, retireUsage } from "#workers/upkeep/usage.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { usualPatience } from "#test/harness/instance.ts";
import { itLong } from "#test/harness/long.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { useStage } from "#test/flow/stage.ts";
import { usePrivateRedis } from "#test/harness/use.ts";

const bbox = "/stations?bbox=54,36,56,38";
const daily = 100_000_000;

describe("flow: usage", function () {
  const server = usePrivateRedis({ durable: true });
  const settings = () => ({
    ...usualPatience,
    // Counts are exact only while Redis answers; where it is away, it is gone, which is seen at once.
    REDIS_TIMEOUT_MS: "10000",
    ...{ USAGE_FLUSH_MS: "1000", KEYS_REFRESH_MS: "500" },
    REDIS_URL: server.url,
  });
  const { instance, country, webs } = useStage(3, ["web", "web"], settings, startRoleProcess);
  let redis: Redis;
  before(() => {
    redis = createRedis(instance.config, createLog({ logLevel: "silent" }, "test"));
  });
  after(() => redis.disconnect());

  // Partners of their own, so that each test counts from nothing.
  const partner = async (): Promise<{ id: number; secret: Client[]; page: Client[] }> => {
    const other = await addPartner(country);
    return {
      id: other.id,
      secret: webs.map((web) => createClient(web.baseUrl, other.secret)),
      page: webs.map((web) => createClient(web.baseUrl, other.publishable)),
    };
  };
  const flush = () => flushUsage({ db: country.db, config: instance.config, redis });
  const durable = async (id: number, audience = "partner"): Promise<number> => {
    const sql =
      "select coalesce(sum(requests), 0)::int as n from usage_days where partner_id = ? and audience = ?";
    return (await rows<{ n: number }>(country.db, sql, [id, audience]))[0]!.n;
  };

  it("shows days and methods, newest first, empty days filled in, pages apart", async () => {
    const { id, secret, page } = await partner();
    const [one, two] = secret as [Client, Client];
    const today = new Date().toISOString().slice(0, 10);
    await rows(
      country.db,
      "insert into usage_days select ?, current_date - 2, 'partner', 'GET /cities', 7, 3, 1",
      [id],
    );
    const first = await one.get(bbox);
    await two.get(bbox, { "If-None-Match": first.headers.get("etag")! });
    await two.get("/stations");
    await one.get("/nowhere");
    await page[0]!.get(bbox);
    await flush();
    await one.get("/cities");
    // What became of a request is counted a moment after it was answered.
    const { body } = await until(
      () => one.get("/usage?days=4"),
      (answer) => answer.body.days[0].errors === 2 && answer.body.days[0].not_modified === 1,
    );
    const { requests, remaining } = body.today;
    expect(body.today).to.deep.equal({ date: today, requests, remaining: daily - requests });
    expect(requests).to.equal(5 + body.days[0].methods["GET /usage"]);
    expect(remaining).to.equal(daily - requests);
    expect(body.limits).to.deep.equal({ rpm: 100_000, daily });
    expect(body.days.map((day: { requests: number }) => day.requests)).to.deep.equal([
      requests,
      0,
      7,
      0,
    ]);
    expect(body.days[0].methods).to.deep.include({
      "GET /stations": 3,
      "GET (unknown)": 1,
      "GET /cities": 1,
    });
    expect(body.days[2]).to.deep.include({ not_modified: 3, errors: 1 });
    expect(body.days[2].methods).to.deep.equal({ "GET /cities": 7 });
    expect(body.days[3]).to.deep.include({ requests: 0, not_modified: 0, errors: 0, methods: {} });
    expect(body.widget.today).to.deep.equal({ date: today, requests: 1 });
    expect(body.widget.days).to.have.length(4);
    expect(body.widget.days[0].methods).to.deep.equal({ "GET /stations": 1 });
    expect((await one.get("/usage?days=1")).body.days).to.have.length(1);
    expect((await one.get("/usage")).body.days).to.have.length(7);
    for (const days of ["0", "366", "x", "1.5"])
      expect((await one.get(`/usage?days=${days}`)).status, days).to.equal(422);
    const refused = await page[0]!.get("/usage");
    expect(refused.body.type).to.match(/\/secret-key-required$/);
  });

  it("is right at every moment while two processes flush, and adds each request once", async () => {
    const { id, secret } = await partner();
    let [sent, answered] = [0, 0];
    const ask = async (client: Client, path: string) => {
      sent += 1;
      const got = await client.get(path);
      answered += 1;
      return got;
    };
    let looks = 0;
    const repeat = async (work: () => Promise<unknown>) => {
      while (looks < 50) await work();
    };
    await Promise.all([
      ...secret.map((client) => repeat(() => ask(client, "/cities"))),
      ...[0, 1].map(() => repeat(flush)),
      repeat(async () => {
        const before = answered;
        const { body } = await ask(secret[looks % 2]!, "/usage?days=1");
        expect(body.today.requests).to.be.within(before + 1, sent);
        looks += 1;
      }),
    ]);
    await flush();
    expect(await durable(id)).to.equal(sent);
  });

  it("adds what a process that died in the middle of a flush has left, once", async () => {
    const { id, secret } = await partner();
    const dying = (method: string): Redis =>
      new Proxy(redis, {
        get: (target, name) => {
          if (name === method) throw new Error("killed here");
          const value: unknown = Reflect.get(target, name);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    for (const [nth, method] of ["hgetall", "unlink", "srem"].entries()) {
      for (let i = 0; i < 3; i += 1) await secret[0]!.get("/cities");
      const died = await flushUsage({
        db: country.db,
        config: instance.config,
        redis: dying(method),
      }).catch(() => "died");
      expect(died).to.equal("died");
      expect((await secret[1]!.get("/usage")).body.today.requests).to.equal(4 * nth + 4);
      await flush();
      expect(await durable(id)).to.equal(4 * nth + 4);
    }
    const own = partnerPrefix(instance.config.redisPrefix, id);
    expect(await redis.smembers(`${own}:usage-sealed`)).to.deep.equal([]);
    // As a process of an older version counts.
    const old = `${instance.config.redisPrefix}:usage:p${id}:${Math.floor(Date.now() / 86_400_000)}`;
    await redis.hset(old, { id: "older", "GET /cities": 7 });
    await redis.sadd(`${instance.config.redisPrefix}:usage`, old);
    expect((await secret[1]!.get("/usage")).body.today.requests).to.equal(12 + 7 + 1);
    await flush();
    expect(await durable(id)).to.equal(12 + 7 + 1);
    expect(await redis.exists(old)).to.equal(0);
  });

  itLong(
    "equals what was sent over restarts and kills of web, upkeep and Redis with its data",
    async () => {
      // Four processes are started anew, one after the other.
      const { id, secret, page } = await partner();
      let sent = 0;
      const send = async (n: number) => {
        for (let i = 0; i < n; i += 1) {
          expect((await secret[i % 2]!.get("/cities")).status).to.equal(200);
          expect((await page[i % 2]!.get("/widget/config")).status).to.equal(200);
          sent += 1;
        }
      };
      const redisBack = () =>
        until(
          () =>
            Promise.all(webs.map((web) => fetch(`${web.baseUrl}/readyz`).then((r) => r.json()))),
          (all) => all.every((one) => !(one as { degraded: string[] }).degraded.includes("redis")),
        );
      await send(20);
      const first = await startRoleProcess("upkeep", instance.env);
      await send(20);
      await until(
        () => durable(id),
        (n) => n > 0,
      );
      await send(10);
      await first.kill9();
      await send(10);
      await server.stop();
      await send(10);
      await server.restart();
      await until(
        async () => redis.status,
        (status) => status === "ready",
      );
      await send(10);
      const portOf = (web: RoleProcess) => new URL(web.baseUrl).port;
      const ports = webs.map(portOf);
      await webs[0]!.stop();
      webs[0] = await startRoleProcess("web", { ...instance.env, PORT: ports[0]! });
      // By default Redis may answer up to two seconds before it writes, while the disk is busy: a kill then loses that.
      await redis.config("SET", "appendfsync", "always");
      await send(10);
      await server.kill9();
      await send(10);
      await server.restart();
      // What was counted without Redis is told to it first: nobody else knows of it.
      await redisBack();
      await webs[1]!.kill9();
      webs[1] = await startRoleProcess("web", { ...instance.env, PORT: ports[1]! });
      await send(10);
      const second = await startRoleProcess("upkeep", instance.env);
      try {
        const both = async () => [await durable(id), await durable(id, "widget")];
        await until(both, ([own, widget]) => own === sent && widget === sent);
        await sleep(1500);
        expect(await both()).to.deep.equal([sent, sent]);
      } finally {
        await second.stop();
      }
    },
  );

  it("answers from the durable rows while Redis is away, and restores the quota after a wiped Redis", async () => {
    const { id, secret } = await partner();
    const [one, two] = secret as [Client, Client];
    for (let i = 0; i < 20; i += 1) await one.get("/cities");
    await flush();
    await sleep(4 * instance.config.keysRefreshMs);
    for (let i = 0; i < 5; i += 1) await two.get("/cities");
    await server.stop();
    let asked = 0;
    const usage = async (client: Client) => {
      asked += 1;
      return client.get("/usage?days=1");
    };
    const away = await usage(two);
    expect(away.status).to.equal(200);
    expect(away.body.today.requests).to.equal(20);
    await server.restart({ wiped: true });
    await until(
      async () => redis.status,
      (status) => status === "ready",
    );
    // The five that were counted since the last flush are gone; all else is there, in the quota too.
    await until(
      async () => {
        const { today } = (await usage(one)).body;
        await flush();
        return { today, asked, durable: await durable(id) };
      },
      ({ today, asked: later, durable: stored }) =>
        today.requests === 20 + later && stored === 20 + later,
    );
    const left = (await usage(two)).headers.get("x-ratelimit-daily-remaining");
    expect(Number(left)).to.equal(daily - 20 - asked);
  });

  it("drops days past their time, and ids of batches that cannot come again", async () => {
    const { id } = await partner();
    await rows(
      country.db,
      `insert into usage_days select ?, current_date - n, 'partner', 'GET /x', 1 from unnest(array[399, 400, 401]) as n`,
      [id],
    );
    await rows(
      country.db,
      "insert into usage_batches values ('p1:1:old', now() - interval '3 days'), ('p1:1:held', now() - interval '3 days'), ('p1:1:new', now())",
    );
    const held = `${instance.config.redisPrefix}:usage:p1:1:held`;
    await redis.hset(held, "GET /x", 1);
    await redis.sadd(`${instance.config.redisPrefix}:usage-sealed`, held);
    await retireUsage({ db: country.db, config: instance.config, redis });
    const days = await rows(
      country.db,
      "select current_date - day as age from usage_days where partner_id = ? order by 1",
      [id],
    );
    expect(days).to.deep.equal([{ age: 399 }, { age: 400 }]);
    const ids = await rows(
      country.db,
      "select id from usage_batches where id like 'p1:1:%' order by id",
    );
    expect(ids).to.deep.equal([{ id: "p1:1:held" }, { id: "p1:1:new" }]);
    await flush();
  });
});
