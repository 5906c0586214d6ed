import { expect } from "chai";
import { release } from "#demo/release.ts";
import { feeds } from "#src/domain/service-state.ts";
import { minuteMs } from "#src/domain/units.ts";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { createDb, type Db, rows } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer, type Producer } from "#src/infrastructure/queues.ts";
import { until } from "#test/flow/client.ts";
import { usualPatience } from "#test/harness/instance.ts";
import { runOperator } from "#test/harness/operator.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { itLong } from "#test/harness/long.ts";
import { type OwnServer, startPrivatePostgres, startPrivateRedis } from "#test/harness/servers.ts";

describe("flow: /status", function () {
  let postgres: OwnServer;
  let redis: OwnServer;
  let env: Record<string, string>;
  let config: Config;
  let db: Db;
  let producer: Producer;
  let web: RunningRole;
  const roles: RunningRole[] = [];

  before(async () => {
    [postgres, redis] = await Promise.all([startPrivatePostgres(), startPrivateRedis()]);
    env = {
      ...{ ...usualPatience, DATABASE_URL: postgres.url, REDIS_URL: redis.url },
      ...{ REDIS_PREFIX: "{status}", REPORTER_PEPPER: "pepper of the tests" },
      ...{ PORT: "0", HOST: "127.0.0.1", POLL_MS: "200", LOG_LEVEL: "info" },
    };
    await release(env);
    config = loadConfig(env);
    db = createDb(config, "test");
    producer = createProducer(config, createLog({ logLevel: "silent" }, "test"));
    for (const role of ["web", "snapshots", "upkeep", "clock", "webhooks"])
      roles.push(await startRole(role, env));
    web = roles[0]!;
  });
  after(async () => {
    for (const role of roles) await role.stop();
    await producer?.close();
    await db?.destroy();
    await redis?.drop();
    await postgres?.drop();
  });

  // oxlint-disable-next-line typescript/no-explicit-any -- a body, looked at field by field
  const state = async (): Promise<any> => (await fetch(`${web.baseUrl}/status.json`)).json();
  const page = async (language: "en" | "ru"): Promise<string> => {
    const response = await fetch(`${web.baseUrl}/status?lang=${language}`);
    expect([response.status, response.headers.get("content-language")]).to.deep.equal([
      200,
      language,
    ]);
    return (await response.text()).replace(/\s+/g, " ");
  };
  const operator = (...args: string[]) => runOperator(env, "--json", ...args);
  const stateOf = (found: { feeds: { feed: string; state: string }[] }, feed: string) =>
    found.feeds.find((one) => one.feed === feed)!.state;
  /** In how many minutes each feed was well, by all days. */
  const counted = async (): Promise<number[]> =>
    (
      await rows<{ well: number }>(
        db,
        `select coalesce(sum(well), 0)::int as well from unnest(?::text[]) f(feed)
         left join service_days using (feed) group by feed`,
        [feeds],
      )
    ).map(({ well }) => well);

  it("counts a minute for each feed that is well, once, however often it looks", async () => {
    const begun = Date.now();
    const well = await until(state, ({ state }) => state === "ok");
    expect(well.feeds.map(({ feed }: { feed: string }) => feed)).to.deep.equal(feeds);
    expect(well.reachable).to.deep.equal({ postgres: true, redis: true });
    // The clock's own tick comes twice a minute: here the duty is asked for at once, and again.
    let slot = 1;
    const look = async (): Promise<number[]> => {
      await producer.addSlot("upkeep", { duty: "service", slot: (slot += 1) });
      return counted();
    };
    await until(look, (found) => found.every((well) => well > 0));
    const done = async () => (await producer.queue("upkeep").getJob(`service-s${slot}`)) ?? null;
    for (let n = 0; n < 3; n += 1) {
      await look();
      await until(done, (job) => job === null || job.finishedOn !== undefined);
    }
    const passed = Math.floor(Date.now() / minuteMs) - Math.floor(begun / minuteMs) + 1;
    for (const well of await counted()) expect(well).to.be.within(1, passed);
    const shown = await until(state, ({ days }) => days.at(-1).minutes.webhooks?.well > 0);
    expect(shown.days).to.have.length(90);
    expect(shown.days[0].minutes).to.deep.equal(
      Object.fromEntries(feeds.map((feed) => [feed, null])),
    );
    // On a busy machine a feed may be late for a moment.
    await until(
      () => page("en"),
      (text) => text.includes("Everything works") && text.includes("Works"),
    );
    expect(
      await until(
        () => page("ru"),
        (text) => text.includes("Всё работает"),
      ),
    ).to.include("Обработка отметок");
  });

  it("counts no minute of a feed that no web process finds well", async () => {
    await rows(db, "truncate service_days");
    const stored = await rows<{ day: string }>(
      db,
      `insert into service_days (day, feed, first_minute, last_well, well)
       select (server_now() at time zone 'UTC')::date - 2, feed, 720, 1439, 700 from unnest(?::text[]) f(feed)
       returning day`,
      [feeds],
    );
    const n = (found: { days: { day: string }[] }) =>
      found.days.findIndex(({ day }) => day === stored[0]!.day);
    const found = await until(state, (one) => one.days[n(one)].minutes.dumps !== null);
    const [before, then, after] = found.days.slice(n(found) - 1, n(found) + 2);
    expect(before.minutes.dumps).to.equal(null);
    expect(then.minutes.dumps).to.deep.equal({ well: 700, of: 720 });
    expect(after.minutes.dumps).to.deep.equal({ well: 0, of: 1440 });
  });

  it("shows an incident in the words of the operator until it is closed, and then as past", async () => {
    const opened = await operator(
      ...["incident", "open", "--title", "Dumps <late>", "--text", "We look into it."],
      ...["--title-ru", "Выгрузки задерживаются", "--feeds", "dumps,delta,dumps"],
    );
    expect(opened.code, opened.err).to.equal(0);
    const id = String(opened.json.id);
    const { incidents, ...found } = await until(state, (found) => found.incidents.length === 1);
    const touched = found.feeds.filter((one: { state: string }) => one.state === "degraded");
    expect(touched.map(({ feed }: { feed: string }) => feed)).to.include.members([
      "dumps",
      "delta",
    ]);
    expect(found.state).to.equal("degraded");
    expect(incidents[0]).to.deep.include({ feeds: ["dumps", "delta"], closed: null });
    expect(await page("en"))
      .to.include("Dumps &lt;late&gt;")
      .and.include('<span class="state">Open</span>')
      .and.include("Something does not work as it should")
      .and.not.include("Everything works");
    expect(await page("ru"))
      .to.include("Выгрузки задерживаются")
      .and.include('<span lang="en">We look into it.</span>');
    expect((await operator("incident", "update", id, "--text", "Found.")).code).to.equal(0);
    const close = ["incident", "close", id, "--text", "Mended.", "--text-ru", "Исправлено."];
    expect((await operator(...close)).code).to.equal(0);
    const over = await until(state, (found) => found.incidents[0].closed !== null);
    // What was measured is back; on a busy machine a feed may be late for a moment.
    await until(state, (found) => found.state === "ok");
    const told = over.incidents[0].updates.map(({ text }: { text: { en: string } }) => text.en);
    expect(told).to.deep.equal(["We look into it.", "Found.", "Mended."]);
    expect(await page("ru"))
      .to.include("Исправлено.")
      .and.not.include("Открыт<");
    expect((await operator("incident", "list")).json).to.have.length(1);
    const refused = [
      await operator(...close),
      await operator("incident", "update", "99", "--text", "x"),
      await operator("incident", "open", "--title", " ", "--text", "x"),
      await operator("incident", "open", "--title", "x", "--text", "x", "--feeds", "fuel"),
    ];
    expect(refused.map(({ code }) => code !== 0)).to.deep.equal([true, true, true, true]);
    const log = await rows<{ action: string; subject: string }>(
      db,
      "select action, subject from operator_log where action like 'incident.%' order by id",
    );
    expect(log.map(({ action }) => action)).to.deep.equal([
      ...["incident.open", "incident.update", "incident.close"],
    ]);
    expect(log[0]!.subject).to.equal(`incident ${id}`);
  });

  itLong("finds webhooks not well when no process has sent them for a minute", async () => {
    await roles.pop()!.stop();
    await until(state, (found) => stateOf(found, "webhooks") === "degraded");
    roles.push(await startRole("webhooks", env));
    await until(state, (found) => stateOf(found, "webhooks") === "ok");
  });

  it("answers without Redis and without Postgres, says so, and shows what it last knew", async () => {
    await redis.stop();
    const without = await until(state, ({ reachable }) => !reachable.redis);
    expect([stateOf(without, "webhooks"), without.state]).to.deep.equal(["degraded", "degraded"]);
    expect(await page("en")).to.include("Redis cannot be reached");
    await redis.restart();
    await until(state, ({ reachable }) => reachable.redis);
    await db.destroy();
    await postgres.stop();
    const blind = await until(state, ({ reachable }) => !reachable.postgres);
    expect(blind.incidents).to.have.length(1);
    const dumps = blind.days.map(({ minutes }: { minutes: { dumps: object } }) => minutes.dumps);
    expect(dumps).to.deep.include({ well: 700, of: 720 });
    expect(stateOf(blind, "marks")).to.equal("degraded");
    expect(await page("en"))
      .to.include("The database cannot be reached")
      .and.include(`as of ${blind.known_at}`);
    expect(await page("ru")).to.include("База данных недоступна");
    await postgres.restart();
    await until(state, ({ reachable }) => reachable.postgres);
    const problem = await fetch(`${web.baseUrl}/problems/upstream-unavailable`);
    expect(await problem.text()).to.include('href="../status"');
    expect(await (await fetch(`${web.baseUrl}/docs`)).text()).to.include('href="status"');
  });
});
