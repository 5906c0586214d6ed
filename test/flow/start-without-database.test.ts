import { expect } from "chai";
import { readProcfile } from "#demo/roles.ts";
import { parseTime } from "#src/domain/time.ts";
import { loadConfig } from "#src/infrastructure/config.ts";
import { serving, writeStations } from "#test/api/reads-country.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";
import { createTestRedis, type TestRedis } from "#test/harness/redis.ts";
import { startProcess, startRoleProcess } from "#test/harness/processes.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { type OwnServer, startPrivatePostgres } from "#test/harness/servers.ts";

describe("flow: a web process that starts while Postgres is away", function () {
  let postgres: OwnServer;
  let redis: TestRedis;
  let env: Record<string, string>;
  let country: Country;
  let snapshots: RunningRole;
  let clock: RunningRole;
  const webs: RunningRole[] = [];

  before(async () => {
    postgres = await startPrivatePostgres();
    redis = createTestRedis();
    env = {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.redisUrl,
      REDIS_PREFIX: redis.redisPrefix,
      REPORTER_PEPPER: "pepper of the tests",
      PORT: "0",
      HOST: "127.0.0.1",
      TEST_NUMBERS: "true",
      SLOT_MS: "500",
      DUMP_MAX_AGE_MS: "2000",
    };
    const release = await startRoleProcess("release", env);
    expect(await release.exited).to.equal(0);
    country = await openCountry(loadConfig(env), 10);
    const expiring = serving("low", Date.now() - 24 * 3600_000 + 30_000, { fuelsNow: ["95"] });
    await writeStations(country.db, [
      { ...placeOf(0), brand: "Ёлка", state: serving("yes", Date.now() - 60_000) },
      { ...placeOf(1), state: expiring },
    ]);
    await country.db("stations").where({ id: "n1002" }).update({ removed_at: new Date() });
    await country.db.raw("select feed_stamp(array['n1002'], true)");
    snapshots = await startRole("snapshots", env);
    clock = await startRole("clock", env);
  });

  after(async () => {
    await Promise.all([...webs, snapshots, clock].map((role) => role?.stop()));
    await country?.close();
    await redis?.drop();
    await postgres?.drop();
  });

  const ready = async (web: RunningRole) => {
    const response = await fetch(`${web.baseUrl}/readyz`);
    const body = (await response.json()) as { degraded: string[]; checks: Record<string, object> };
    return { status: response.status, ...body };
  };

  it("serves reads from the latest snapshot and says so; nothing before there is one", async () => {
    await snapshots.waitForLine(/model snapshot made/);
    const web = await startRole("web", env);
    webs.push(web);
    const client = createClient(web.baseUrl, country.secret);
    const known = await client.get("/stations/all?q=ёлка");
    expect(known.body.stations[0].fuel.status).to.equal("yes");
    await snapshots.waitForLine(/"seq":13,.*model snapshot made/);
    await postgres.stop();
    const stoppedAt = Date.now();

    const late = await startRole("web", env);
    webs.push(late);
    expect(await ready(late)).to.deep.include({ status: 200 });
    const { degraded, checks } = await ready(late);
    expect(degraded).to.include.members(["stations", "snapshot"]);
    expect(JSON.stringify(checks["snapshot"])).to.match(/serving from the snapshot of \d{4}-/);

    const other = createClient(late.baseUrl, country.secret);
    const since = new Date(Date.now() - 3600_000).toISOString();
    for (const path of [
      "/stations/all?limit=5",
      "/stations/all?q=ёлка",
      "/stations?city=Тестоград",
      `/stations/${placeOf(1).id}`,
      `/stations/delta?updated_since=${since}`,
      "/cities",
    ]) {
      const [was, is] = await Promise.all([
        client.get(encodeURI(path)),
        other.get(encodeURI(path)),
      ]);
      expect([is.status, is.headers.get("etag")], path).to.deep.equal([
        200,
        was.headers.get("etag"),
      ]);
      expect(is.body.stations, path).to.deep.equal(was.body.stations);
      expect(is.body.cities, path).to.deep.equal(was.body.cities);
      // Each process read the feed at moments of its own, all of them while there was a database.
      for (const { body } of [is, was])
        if (body.as_of !== undefined) expect(parseTime(body.as_of)).to.be.at.most(stoppedAt);
    }
    const delta = await other.get(`/stations/delta?updated_since=${since}`);
    expect(delta.body.removed).to.deep.equal(["n1002"]);
    const publishable = createClient(late.baseUrl, country.publishable);
    expect((await publishable.get("/stations?bbox=54.9,36.9,55.2,37.1")).body.count).to.equal(9);
    expect((await publishable.get("/stations/all")).body.type).to.match(/secret-key-required$/);
    const mark = await other.mark(placeOf(3), "driver", { status: "yes" });
    expect([mark.status, mark.headers.get("retry-after")]).to.deep.equal([503, "5"]);
    expect(mark.body.type).to.match(/upstream-unavailable$/);
    // A batch of which nothing is stored too: whoever looks at the answer's status alone sends it again.
    const one = { station_id: placeOf(3).id, user_ref: "driver", status: "yes" };
    const batch = await other.post("/reports", { reports: [one, { ...one, status: "maybe" }] });
    expect([batch.status, batch.headers.get("retry-after")]).to.deep.equal([503, "5"]);
  });

  it("answers 503 as long as there is neither database nor snapshot", async () => {
    const bare = { ...env, REDIS_PREFIX: `${redis.redisPrefix}bare` };
    const web = await startProcess("web", readProcfile().get("web")!, bare);
    webs.push(web);
    await web.waitForLine(/keys not refreshed/);
    const answer = await until(
      () => fetch(`${web.baseUrl}/readyz`).catch(() => null),
      (found) => found !== null,
    );
    expect(answer!.status).to.equal(503);
    const client: Client = createClient(web.baseUrl, country.secret);
    const read = await client.get("/stations/all");
    expect([read.status, read.body.type.split("/").at(-1)]).to.deep.equal([
      503,
      "upstream-unavailable",
    ]);
  });

  it("shows time's own changes meanwhile", async () => {
    const client = createClient(webs[1]!.baseUrl, country.secret);
    await until(
      () => client.get(`/stations/${placeOf(1).id}`),
      (answer) => answer.body.station.fuel.status === "nodata",
    );
  });

  it("goes on by itself when Postgres is back, without a restart", async () => {
    await postgres.restart();
    await writeStations(country.db, [{ ...placeOf(4), name: "Neu" }]);
    for (const web of webs) {
      const client = createClient(web.baseUrl, country.secret);
      const all = await until(
        () => client.get("/stations/all"),
        (answer) => answer.body.stations?.some(({ name }: { name: string }) => name === "Neu"),
      );
      expect(all.body.count).to.equal(9);
      await until(
        () => ready(web),
        ({ status, degraded }) => status === 200 && !degraded.includes("snapshot"),
      );
    }
    const marks = await startRole("marks", env);
    webs.push(marks);
    const client = createClient(webs[1]!.baseUrl, country.secret);
    const mark = await until(
      () => client.mark(placeOf(3), "driver", { status: "yes" }),
      (answer) => answer.status === 200,
    );
    expect(mark.body.published.outcome).to.equal("published");
  });
});
