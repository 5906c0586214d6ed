import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis, partnerPrefix, type Redis } from "#src/infrastructure/redis.ts";
import type { CallError, ShownHour, ShownRequest } from "#src/contract/dashboard.ts";
import { flushUsage, retireUsage } from "#workers/upkeep/usage.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { createPageClient, type PageClient } from "#test/flow/page-client.ts";
import { usualPatience } from "#test/harness/instance.ts";
import { startRole } from "#test/harness/roles.ts";
import { useStage } from "#test/flow/stage.ts";
import { usePrivateRedis } from "#test/harness/use.ts";

const bbox = "/stations?bbox=54,36,56,38";
const report = "POST /stations/{station_id}/report";

// What the dashboard tells a partner's engineer when something goes wrong: decisions 12.10, 12.11, 12.12, 12.13.
describe("flow: troubles of a partner", function () {
  const server = usePrivateRedis({ durable: true });
  const settings = () => ({
    ...usualPatience,
    ...{ SIGN_INS_PER_MINUTE: "1000", PAGE_CALLS_PER_MINUTE: "100000" },
    REDIS_URL: server.url,
  });
  const { instance, country, webs } = useStage(5, ["web", "web"], settings);
  let redis: Redis;
  before(() => {
    redis = createRedis(instance.config, createLog({ logLevel: "silent" }, "test"));
  });
  after(() => redis.disconnect());

  interface Someone {
    id: number;
    secret: Client[];
    page: Client[];
    dashboard: PageClient;
  }
  // Partners of their own, so that each test counts from nothing.
  const someone = async (limits = { rpm: 100_000, daily: 100_000_000 }): Promise<Someone> => {
    const other = await addPartner(country, limits);
    const dashboard = createPageClient(webs[1]!.baseUrl, "dashboard");
    expect((await dashboard.post("/session", { key: other.secret })).status).to.equal(201);
    return {
      id: other.id,
      secret: webs.map((web) => createClient(web.baseUrl, other.secret)),
      page: webs.map((web) => createClient(web.baseUrl, other.publishable)),
      dashboard,
    };
  };
  const redisBack = () =>
    until(
      async () => redis.status,
      (status) => status === "ready",
    );
  const flush = () => flushUsage({ db: country.db, config: instance.config, redis });
  const idOf = ({ headers }: Answer): string => headers.get("x-request-id")!;
  const errorsOf = async ({ dashboard }: Someone, audience = "partner"): Promise<CallError[]> =>
    (await dashboard.get("/errors?days=3")).body[audience];
  const recentOf = async ({ dashboard }: Someone, query = ""): Promise<ShownRequest[]> =>
    (await dashboard.get(`/recent${query}`)).body.requests;
  const hoursOf = async ({ dashboard }: Someone, audience = "partner"): Promise<ShownHour[]> =>
    (await dashboard.get("/hours")).body[audience];
  const sum = (hours: readonly ShownHour[], what: "requests" | "errors"): number =>
    hours.reduce((all, hour) => all + hour[what], 0);
  const countOf = (errors: readonly CallError[], method: string, code: string): number =>
    errors.find((error) => error.method === method && error.code === code)?.total ?? 0;

  describe("errors", () => {
    it("are told by call and code, of both processes, and add up to those of /usage", async () => {
      const who = await someone();
      const [one, two] = who.secret as [Client, Client];
      const { id } = placeOf(0);
      await one.get("/stations");
      await two.get("/stations");
      await two.get("/stations?bbox=1");
      await one.get("/stations/none");
      await one.get("/nowhere");
      await one.get("/cities");
      await flush();
      await two.post(`/stations/${id}/report`, { status: "maybe", user_ref: "u" });
      await who.page[0]!.get("/stations");
      await who.page[1]!.get("/usage");
      const seen = async () => {
        const usage = (await one.get("/usage?days=3")).body;
        return {
          errors: await errorsOf(who),
          ofPages: await errorsOf(who, "widget"),
          counted: [usage.days[0].errors, usage.widget.days[0].errors] as [number, number],
        };
      };
      const all = await until(
        seen,
        ({ counted, ofPages }) => counted[0] === 6 && counted[1] === 1 && ofPages.length === 2,
      );
      expect(all.errors.map(({ method, code, total }) => [method, code, total])).to.deep.equal([
        ["GET /stations", "missing-area", 2],
        ["GET (unknown)", "not-found", 1],
        ["GET /stations", "bad-bbox", 1],
        ["GET /stations/{station_id}", "station-not-found", 1],
        [report, "validation-failed", 1],
      ]);
      const today = new Date().toISOString().slice(0, 10);
      for (const error of all.errors)
        expect(error).to.deep.include({ today: error.total, refused: 0, last: today });
      // A 403 of the key comes before the request is counted.
      expect(all.ofPages.map(({ method, code, refused }) => [method, code, refused])).to.deep.equal(
        [
          ["GET /stations", "missing-area", 0],
          ["GET /usage", "secret-key-required", 1],
        ],
      );
      await flush();
      const later = await seen();
      expect(later.errors).to.deep.equal(all.errors);
      expect(later.ofPages).to.deep.equal(all.ofPages);
    });

    it("count what a limit refused apart: /usage has none of it", async () => {
      const who = await someone({ rpm: 100_000, daily: 4 });
      for (let i = 0; i < 7; i += 1) await who.secret[i % 2]!.get("/cities");
      const [error] = await until(
        () => errorsOf(who),
        (errors) => errors[0]?.total === 3,
      );
      expect(error).to.deep.include({
        ...{ method: "GET /cities", code: "daily-quota-exceeded", total: 3, refused: 3 },
      });
      await flush();
      const stored = "select method, requests, errors from usage_days where partner_id = ?";
      expect(await rows(country.db, stored, [who.id])).to.deep.equal([
        { method: "GET /cities", requests: 4, errors: 0 },
      ]);
      expect((await errorsOf(who))[0]!.total).to.equal(3);
      const { days } = (await who.dashboard.get("/overview")).body;
      expect(days[0].methods).to.deep.equal({ "GET /cities": 4 });
      expect(days[0]).to.deep.include({ requests: 4, refused: 3, limited: 3 });
      const byHour = async (): Promise<number[]> => {
        const hours = (await who.dashboard.get("/hours")).body.partner as Record<string, number>[];
        const sumOf = (what: string) => hours.reduce((sum, hour) => sum + hour[what]!, 0);
        return ["requests", "errors", "refused"].map(sumOf);
      };
      expect(await until(byHour, ([requests]) => requests === 4)).to.deep.equal([4, 0, 3]);
      await flush();
      expect(await byHour()).to.deep.equal([4, 0, 3]);
    });

    it("have no code from before codes were kept, and are not forgotten", async () => {
      const who = await someone();
      const insert =
        "insert into usage_days select ?, current_date - ?::int, 'partner', 'GET /cities', 9, 0, 5";
      await rows(country.db, insert, [who.id, 1]);
      await rows(country.db, insert, [who.id, 2]);
      await rows(
        country.db,
        "insert into usage_errors select ?, current_date - 1, 'partner', 'GET /cities', 'city-not-found', 3",
        [who.id],
      );
      expect(
        (await errorsOf(who)).map(({ code, total, today }) => [code, total, today]),
      ).to.deep.equal([
        ["", 7, 0],
        ["city-not-found", 3, 0],
      ]);
    });

    it("name the marks of a batch that were refused while the batch was taken", async () => {
      const who = await someone();
      const good = { station_id: placeOf(1).id, user_ref: "one", status: "yes" };
      const bad = { station_id: "none", user_ref: "two", status: "yes" };
      const sent = await who.secret[0]!.post("/reports", { reports: [good, bad, bad] });
      expect(sent.status).to.equal(202);
      const [error] = await until(
        () => errorsOf(who),
        ([first]) => first?.marks === 2,
      );
      expect(error).to.deep.include({
        ...{ method: "POST /reports", code: "station-not-found", total: 0, marks: 2 },
      });
      await flush();
      expect((await errorsOf(who))[0]).to.deep.equal(error);
    });

    it("are there by day as a spreadsheet", async () => {
      const who = await someone();
      await rows(
        country.db,
        "insert into usage_errors select ?, current_date - n, 'partner', 'GET /cities', 'city-not-found', 3, n from generate_series(1, 2) n",
        [who.id],
      );
      const day = (back: number) =>
        new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
      const { body } = await who.dashboard.get("/errors.csv?days=5");
      expect(String(body).trimEnd().split("\n")).to.deep.equal([
        "date,audience,method,code,errors,not_counted,marks_in_batches",
        `${day(1)},partner,GET /cities,city-not-found,3,1,0`,
        `${day(2)},partner,GET /cities,city-not-found,3,2,0`,
      ]);
    });
  });

  describe("the last requests", () => {
    it("are those of both processes, newest first, with what the operator needs", async () => {
      const who = await someone();
      const answers = [
        await who.secret[0]!.get("/cities"),
        await who.secret[1]!.get("/stations?bbox=1"),
        await who.secret[0]!.get(`/stations/${placeOf(0).id}`),
      ];
      const ofPage = await who.page[0]!.get(bbox);
      const seen = await until(
        () => recentOf(who),
        (requests) => requests.length === 3,
      );
      expect(seen.map(({ request_id }) => request_id)).to.deep.equal(answers.map(idOf).reverse());
      expect(seen.map(({ call, status, code }) => [call, status, code])).to.deep.equal([
        ["GET /stations/{station_id}", 200, null],
        ["GET /stations", 422, "bad-bbox"],
        ["GET /cities", 200, null],
      ]);
      const { keys } = (await who.dashboard.get("/keys")).body;
      for (const { key, ms, at } of seen) {
        expect(key).to.equal(keys[0].prefix);
        expect(ms).to.be.within(0.1, 20_000);
        expect(Date.now() - at).to.be.within(0, 120_000);
      }
      expect(
        (await recentOf(who, "?only=errors")).map(({ request_id }) => request_id),
      ).to.deep.equal([idOf(answers[1]!)]);
      const [only] = await until(
        () => recentOf(who, "?audience=widget"),
        (requests) => requests.length === 1,
      );
      expect([only!.request_id, only!.key]).to.deep.equal([idOf(ofPage), keys[1].prefix]);
    });

    it("are fifty at most; errors stay while good requests come", async () => {
      const who = await someone();
      const failed = await who.secret[1]!.get("/stations");
      await until(
        () => recentOf(who, "?only=errors"),
        (requests) => requests.length === 1,
      );
      const ids: string[] = [];
      for (let round = 0; round < 40; round += 1) {
        const both = await Promise.all(who.secret.map((client) => client.get("/cities")));
        ids.push(...both.map(idOf));
      }
      const newest = new Set(ids.slice(-40));
      const seen = await until(
        () => recentOf(who),
        (requests) => requests.filter(({ request_id: id }) => newest.has(id)).length === 40,
      );
      expect(seen).to.have.length(50);
      expect(seen.every(({ request_id: id }) => ids.slice(-52).includes(id))).to.equal(true);
      expect(seen.map(({ at }) => at)).to.deep.equal(
        seen.map(({ at }) => at).sort((a, b) => b - a),
      );
      expect((await recentOf(who, "?only=errors")).map(({ request_id: id }) => id)).to.deep.equal([
        idOf(failed),
      ]);
      const names = await redis.keys(
        `${partnerPrefix(instance.config.redisPrefix, who.id)}:recent:p${who.id}:*`,
      );
      expect(names).to.have.length(2);
      for (const name of names) {
        expect(await redis.zcard(name)).to.be.at.most(50);
        expect(await redis.pttl(name)).to.be.within(1, 48 * 3600_000);
      }
    });

    it("hold neither query nor body, and nothing of other partners", async () => {
      const who = await someone();
      const other = await someone();
      const mark = {
        status: "yes",
        user_ref: "secret-user",
        comment: "secret words",
        ...placeOf(3),
      };
      await who.secret[0]!.post(`/stations/${placeOf(3).id}/report`, mark);
      await who.secret[0]!.get("/stations?city=secret-city&lat=12.345");
      await who.secret[0]!.delete("/users/secret-user");
      await until(
        () => recentOf(who),
        (requests) => requests.length === 3,
      );
      const name = `${partnerPrefix(instance.config.redisPrefix, who.id)}:recent:p${who.id}:all`;
      const text = (await redis.zrange(name, "0", "-1")).join("\n");
      expect(text).to.include("DELETE /users/{user_ref}");
      expect(text).not.to.match(/secret|12\.345|svc_live|127\.0\.0/);
      expect(await recentOf(other)).to.deep.equal([]);
      expect((await other.dashboard.get("/recent?audience=other")).status).to.equal(422);
    });
  });

  describe("hours", () => {
    it("add up to the requests and errors of /usage, with durations", async () => {
      const who = await someone();
      for (let i = 0; i < 10; i += 1) {
        await who.secret[i % 2]!.get(i < 4 ? "/stations" : "/cities");
        if (i === 5) await flush();
      }
      await who.page[0]!.get("/cities");
      const check = async () => {
        const hours = await until(
          () => hoursOf(who),
          (all) => sum(all, "requests") === 10,
        );
        expect(hours).to.have.length(48);
        expect(sum(hours, "errors")).to.equal(4);
        const busy = hours.find(({ requests }) => requests > 0)!;
        expect(busy.median_ms).to.be.within(0.1, 20_000);
        expect(busy.p95_ms).to.be.at.least(busy.median_ms!);
        expect(hours[47]).to.deep.include({ requests: 0, median_ms: null, p95_ms: null });
        expect(hours[0]!.at - hours[47]!.at).to.equal(47 * 3600_000);
      };
      await check();
      expect(sum(await hoursOf(who, "widget"), "requests")).to.equal(1);
      await flush();
      await check();
      const { days } = (await who.dashboard.get("/overview?days=2")).body;
      expect(days[0].requests + days[1].requests).to.equal(10);
    });
  });

  it("all of it survives the end of a process and a Redis that comes back empty", async () => {
    const who = await someone();
    for (let i = 0; i < 6; i += 1) await who.secret[0]!.get(i === 0 ? "/stations" : "/cities");
    // At once: what waits in its memory must be written before it ends.
    const port = new URL(webs[0]!.baseUrl).port;
    await webs[0]!.stop();
    expect(await recentOf(who)).to.have.length(6);
    expect(sum(await hoursOf(who), "requests")).to.equal(6);
    expect(countOf(await errorsOf(who), "GET /stations", "missing-area")).to.equal(1);
    await flush();
    await server.stop();
    expect(sum(await hoursOf(who), "requests")).to.equal(6);
    expect(countOf(await errorsOf(who), "GET /stations", "missing-area")).to.equal(1);
    expect((await who.dashboard.get("/recent")).status).to.equal(503);
    await server.restart({ wiped: true });
    await redisBack();
    webs[0] = await startRole("web", { ...instance.env, PORT: port });
    await until(
      () => who.dashboard.get("/recent"),
      ({ status }) => status === 200,
    );
    const answer = await who.secret[0]!.get("/cities");
    const seen = await until(
      () => recentOf(who),
      (requests) => requests.length > 0,
    );
    expect(seen.map(({ request_id: id }) => id)).to.deep.equal([idOf(answer)]);
    await until(
      () => hoursOf(who),
      (hours) => sum(hours, "requests") === 7,
    );
    expect(countOf(await errorsOf(who), "GET /stations", "missing-area")).to.equal(1);
  });

  it("what came while Redis was away is shown when it is back", async () => {
    const who = await someone();
    await server.stop();
    const answer = await who.secret[1]!.get("/stations");
    expect(answer.status).to.equal(422);
    await server.restart();
    await redisBack();
    const [seen] = await until(
      () =>
        who.dashboard.get("/recent").then(({ body }) => (body.requests ?? []) as ShownRequest[]),
      (requests) => requests.length > 0,
    );
    expect(seen!.request_id).to.equal(idOf(answer));
    await until(
      () => errorsOf(who),
      (errors) => countOf(errors, "GET /stations", "missing-area") === 1,
    );
    await until(
      () => hoursOf(who),
      (hours) => sum(hours, "errors") === 1,
    );
  });

  it("shows a partner without requests that there are none", async () => {
    const who = await someone();
    expect(await errorsOf(who)).to.deep.equal([]);
    expect(await recentOf(who)).to.deep.equal([]);
    expect(sum(await hoursOf(who), "requests")).to.equal(0);
  });

  it("drops errors with the days of usage, and hours after two days", async () => {
    const { id } = await someone();
    await rows(
      country.db,
      "insert into usage_errors select ?, current_date - n, 'partner', 'GET /x', 'not-found', 1 from unnest(array[399, 400, 401]) as n",
      [id],
    );
    await rows(
      country.db,
      "insert into usage_hours select ?, date_trunc('hour', now()) - n * interval '1 hour', 'partner', 7, 1 from unnest(array[47, 49]) as n",
      [id],
    );
    await retireUsage({ db: country.db, config: instance.config, redis });
    const left = await rows(
      country.db,
      "select current_date - day as age from usage_errors where partner_id = ? order by 1",
      [id],
    );
    expect(left).to.deep.equal([{ age: 399 }, { age: 400 }]);
    const hours = "select count(*) from usage_hours where partner_id = ?";
    expect(await rows(country.db, hours, [id])).to.deep.equal([{ count: 1 }]);
  });
});
