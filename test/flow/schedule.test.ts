import { Worker } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import { loadConfig } from "#src/infrastructure/config.ts";
import { createDb } from "#src/infrastructure/db.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer } from "#src/infrastructure/queues.ts";
import { until } from "#test/flow/client.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { hold } from "#test/harness/leaks.ts";
import { startRole, type RunningRole } from "#test/harness/roles.ts";
import { runOperator } from "#test/harness/operator.ts";
import { type OwnServer, startPrivateRedis } from "#test/harness/servers.ts";

/** Slots so long that no tick comes by itself while a test runs, or hardly ever. */
const longSlots = { SLOT_MS: "600000", DUMP_MAX_AGE_MS: "600000" };

describe("flow: the schedule", function () {
  let server: OwnServer;
  let instance: TestInstance;
  let redis: Redis;
  let prefixes = 0;
  const running: RunningRole[] = [];

  before(async () => {
    server = await startPrivateRedis();
    instance = await createTestInstance();
    redis = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
    redis.on("error", () => {});
  });
  afterEach(async () => {
    for (const role of running.splice(0)) await role.stop();
  });
  after(async () => {
    redis?.disconnect();
    await instance?.drop();
    await server?.drop();
  });

  /** The settings of a deployment of its own: its Redis knows nothing yet. */
  const deployment = (settings: Record<string, string>) => {
    const prefix = `{schedule-${prefixes++}}`;
    const env = { ...instance.env, REDIS_URL: server.url, REDIS_PREFIX: prefix, ...settings };
    const start = async (name: string): Promise<RunningRole> => {
      const role = await startRole(name, { ...env, LOG_LEVEL: "debug" });
      running.push(role);
      return role;
    };
    const stop = async (role: RunningRole): Promise<void> => {
      running.splice(running.indexOf(role), 1);
      await role.stop();
    };
    const dumps = () => redis.exists(`${prefix}:dump:5`);
    return { prefix, env, start, stop, dumps };
  };
  const readiness = async (web: RunningRole) => {
    const response = await fetch(`${web.baseUrl}/readyz`);
    const { checks } = (await response.json()) as {
      checks: Record<string, { ok: boolean; detail: string }>;
    };
    return { status: response.status, ...checks["duties"]! };
  };

  it("has the first dump made at once, whether the clock or the worker starts first", async () => {
    for (const order of [
      ["clock", "snapshots"],
      ["snapshots", "clock"],
    ]) {
      const { start, dumps } = deployment(longSlots);
      for (const role of order) await start(role);
      await until(dumps, Boolean);
    }
  });

  it("has the dumps made again when Redis has lost everything, without waiting for a tick", async () => {
    const { start, dumps } = deployment(longSlots);
    await start("clock");
    await start("snapshots");
    await until(dumps, Boolean);
    await server.kill9();
    await server.restart({ wiped: true });
    await until(dumps, Boolean);
  });

  it("tries a duty that has failed once more, without waiting for a tick", async () => {
    const { prefix, env, start } = deployment({ ...longSlots, INSIGHTS_MS: "600000" });
    const db = createDb(loadConfig(env), "test", 1);
    const letGo = hold("a database", () => db.destroy());
    try {
      await db.raw("alter table insight_grades rename to away");
      await start("clock");
      const worker = await start("snapshots");
      await worker.waitForLine(/"level":40.*"duty":"insights".*duty failed, is tried again/);
      await db.raw("alter table away rename to insight_grades");
      await until(() => redis.exists(`${prefix}:insights:3`), Boolean);
    } finally {
      letGo();
      await db.destroy();
    }
  });

  it("says in its log that a tick finds the one before still at work", async () => {
    const { start } = deployment({ SLOT_MS: "1000" });
    const clock = await start("clock");
    server.freeze();
    try {
      await clock.waitForLine(/"level":40.*overlap prevention/);
    } finally {
      server.thaw();
    }
  });

  it("enqueues each slot once from two clocks, also when its work is already done", async () => {
    const { prefix, start, env } = deployment({ SLOT_MS: "1000" });
    const seen: string[] = [];
    const connection = new Redis(server.url, { maxRetriesPerRequest: null });
    const worker = new Worker("snapshots", async (job) => void seen.push(job.id!), {
      connection,
      prefix,
    });
    const late = createProducer(loadConfig(env), createLog({ logLevel: "silent" }, "test"));
    const close = async (): Promise<void> => {
      await worker.close();
      await late.close();
      connection.disconnect();
    };
    const letGo = hold("a worker", close);
    const dumpSlots = () => seen.filter((id) => id.startsWith("dump-s"));
    try {
      await start("clock");
      await start("clock");
      await until(
        async () => dumpSlots().length,
        (count) => count >= 3,
      );
      // A clock that is behind the others.
      const slot = Number(dumpSlots()[0]!.slice("dump-s".length));
      expect(await late.addSlot("snapshots", { duty: "dump", slot })).to.equal(true);
      await until(
        async () => dumpSlots().length,
        (count) => count >= 5,
      );
      expect(new Set(seen).size).to.equal(seen.length);
    } finally {
      letGo();
      await close();
    }
  });

  it("collapses the slots that nobody worked on into one job of each duty", async () => {
    const { prefix, start, dumps } = deployment({ SLOT_MS: "1000" });
    const clock = await start("clock");
    await until(
      async () => clock.lines.filter((line) => line.includes('"duty":"dump"')).length,
      (count) => count >= 4,
    );
    const waiting = await redis.lrange(`${prefix}:snapshots:wait`, 0, -1);
    const duties = waiting.map((id) => id.slice(0, id.lastIndexOf("-s")));
    // Insights come once a minute, perhaps in these seconds.
    expect(duties.filter((duty) => duty !== "insights")).to.have.members(["dump", "sets", "model"]);
    expect(new Set(duties).size).to.equal(duties.length);
    const worker = await start("snapshots");
    await until(dumps, Boolean);
    // The next slots come as usual.
    await until(
      async () => worker.lines.filter((line) => /"duty":"sets".*duty done/.test(line)).length,
      (count) => count >= 2,
    );
  });

  it("raises an alarm in every process that lives when a worker or the clock stops, until it is back", async () => {
    const { start, stop, env } = deployment({ SLOT_MS: "1000", ALARM_POLL_MS: "1000" });
    const [web, upkeep] = [await start("web"), await start("upkeep")];
    let clock = await start("clock");
    const missing = await until(
      () => readiness(web),
      ({ ok }) => !ok,
    );
    expect(missing).to.include({ status: 200 });
    expect(missing.detail)
      .to.match(/dump: has not succeeded for \d+ s, though/)
      .and.not.include("clock:");
    await start("snapshots");
    await until(
      () => readiness(web),
      ({ ok }) => ok,
    );
    await stop(clock);
    const stopped = await until(
      () => readiness(web),
      ({ ok }) => !ok,
    );
    // One reason, and not the seven duties that follow from it.
    expect(stopped.detail).to.match(
      /^clock: no clock process has enqueued anything for \d+ s, so no duty runs$/,
    );
    for (const role of [web, upkeep])
      await role.waitForLine(/"level":50.*"duty":"clock".*duty is late/);
    // The operator is told as well. (A slow machine may have been late with others.)
    await until(
      () => runOperator(env, "alarm", "list", "--json"),
      ({ json }) => json.some(({ subject }: { subject: string }) => subject === "duty clock"),
    );
    const metrics = await until(
      async () => (await fetch(`${web.baseUrl}/metrics`)).text(),
      (text) => /fuelmark_alarms_open{kind="duty-late"} [^0]/.test(text),
    );
    const of = (figure: string, duty: string) =>
      Number(new RegExp(`${figure}{duty="${duty}",role="\\w+"} (.+)`).exec(metrics)?.[1]);
    const at = (duty: string) => of("fuelmark_duty_last_success_timestamp_seconds", duty);
    expect(of("fuelmark_duty_period_seconds", "dump")).to.equal(1);
    expect(of("fuelmark_duty_period_seconds", "retention")).to.equal(3600);
    expect(metrics).to.match(/timestamp_seconds{duty="dump",role="snapshots"}/);
    for (const duty of ["clock", "dump", "sets", "model", "instants", "usage", "partitions"])
      expect(at(duty), duty).to.be.within(Date.now() / 1000 - 120, Date.now() / 1000);
    clock = await start("clock");
    await until(
      () => readiness(web),
      ({ ok }) => ok,
    );
    await web.waitForLine(/"duty":"clock".*not late any more/);
  });

  it("does not call duties late because Redis was away", async () => {
    const { start, stop } = deployment({ SLOT_MS: "1000" });
    const [web, upkeep] = [await start("web"), await start("upkeep")];
    const clock = await start("clock");
    await start("snapshots");
    // So long that the duties would be late if their silence counted from the start.
    await until(
      async () => upkeep.lines.filter((line) => /"duty":"instants".*duty done/.test(line)).length,
      (count) => count >= 3,
    );
    // A busy machine may be late with another one at this moment.
    await until(
      () => readiness(web),
      ({ detail }) => detail === "on time",
    );
    await server.kill9();
    await until(
      () => readiness(web),
      ({ detail }) => detail === "unknown without Redis",
    );
    // Nothing is noted before the first look at the Redis that is back.
    await stop(clock);
    await server.restart({ wiped: true });
    const back = await until(
      () => readiness(web),
      ({ detail }) => detail !== "unknown without Redis",
    );
    expect(back).to.include({ ok: true, detail: "on time" });
    await until(
      () => readiness(web),
      ({ detail }) => detail.startsWith("clock:"),
    );
  });
});
