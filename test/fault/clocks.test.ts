import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { createRandom } from "#demo/country/random.ts";
import { settleMs } from "#src/domain/followed-time.ts";
import { formatTime, parseTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer, type Producer } from "#src/infrastructure/queues.ts";
import { clockAlarms, figures, hasBlank, markAll, readOn, readyOf } from "#test/fault/clocks.ts";
import { createHistory } from "#test/fault/history.ts";
import { isKept, sendMark, startLoad } from "#test/fault/load.ts";
import { countRows, expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, type Stage, stationCount } from "#test/fault/stage.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";
import { untilServed } from "#test/flow/refold.ts";
import {
  clockSteps,
  createFakeClock,
  type FakeClock,
  skipWithoutFaketime,
} from "#test/harness/faketime.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { compareCopies } from "#test/soak/checkpoint.ts";
import { startMirrors } from "#test/soak/mirrors.ts";

const momentMs = 4000;
const settings = {
  ...{ NEW_REPORTERS_DAILY: "1000000", MASS_NO_LIMIT: "1000000" },
  ...{ SLOT_MS: "2000", DUMP_MAX_AGE_MS: "3000" },
  // A mirror that hears nothing notices it soon.
  ...{ STREAM_HEARTBEAT_MS: "1000", STREAMS_PER_KEY: "100" },
};

const saysSo = (lines: readonly string[]): boolean =>
  lines.some((line) => line.includes("clocks differ, will say when they do not"));
const expectNone = (found: readonly unknown[]): Chai.Assertion =>
  expect(found, `${found.length}: ${JSON.stringify(found.slice(0, 3), null, 1)}`).to.have.length(0);

describe("fault: the wall clocks of processes", function () {
  this.timeout(600_000);
  let instance: TestInstance;
  let country: Country;
  let producer: Producer;
  let clients: Client[] = [];
  let members: { name: string; clock: FakeClock; process(): RoleProcess }[] = [];
  let [webs, workers] = [members, members];

  before(async function () {
    await skipWithoutFaketime(this);
    instance = await createTestInstance(settings);
    country = await openCountry(instance.config, stationCount);
    await country.db("keys").update({ mass_no_limit: 1_000_000 });
    producer = createProducer(instance.config, createLog({ logLevel: "silent" }, "test"));
    const start = async (role: string, n: number) => {
      const clock = await createFakeClock();
      // To read the file at each look at the clock would cost seven processes half of a small machine.
      const seldom = { FAKETIME_NO_CACHE: "0", FAKETIME_CACHE_DURATION: "1" };
      const running = await startRoleProcess(role, { ...instance.env, ...clock.env, ...seldom });
      return { name: `${role}${n}`, clock, process: () => running };
    };
    members = await Promise.all(
      ["web", "web", "marks", "snapshots", "upkeep", "webhooks", "clock"].map(start),
    );
    [webs, workers] = [members.slice(0, 2), members.slice(2)];
    clients = webs.map((web) => createClient(web.process().baseUrl, country.secret));
  });
  after(async () => {
    await Promise.all(members.map((one) => one.process().stop()));
    await producer?.close();
    await country?.close();
    await instance?.drop();
  });

  const lookedSteps = ({ lines }: RoleProcess): number =>
    lines.filter((line) => line.includes("the clock of this machine stepped")).length;
  /** Sets their clocks, and waits until each of them has seen it. */
  const step = async (some: typeof members, ms: number): Promise<void> => {
    await Promise.all(
      some.map(async ({ clock, process }) => {
        if (clock.offsetMs() === ms) return;
        const seen = lookedSteps(process());
        clock.set(ms);
        await until(
          () => Promise.resolve(lookedSteps(process())),
          (count) => count > seen,
        );
      }),
    );
  };
  const untilWell = async (): Promise<void> => {
    for (const web of webs)
      await until(
        () => readyOf(web.process()),
        ({ ready, degraded }) => ready && degraded.length === 0,
      );
  };
  const untilKnown = async (name: string): Promise<void> => {
    await markAll(clients, name);
    for (const client of clients)
      await until(
        () => client.get("/stations/all?limit=30000"),
        ({ body }) => !hasBlank(JSON.stringify(body)),
      );
  };

  it("leave no trace when they step, for a moment and for good, while marks arrive and mirrors follow", async () => {
    const since = formatTime(Date.now() - 1000);
    await untilKnown("first");
    const served = { country, config: instance.config, clients, webs, missing: [] };
    const before = await countRows(country.db);
    const history = createHistory();
    const done = new AbortController();
    const mirrors = startMirrors(served, createRandom(1));
    const reading = readOn(webs, country.secret, history, done.signal);
    const load = startLoad(clients, 0, { perSecond: 10, stations: stationCount });
    const expectEqual = async (): Promise<void> => {
      await untilServed(
        country.db,
        webs.map((web) => web.process()),
      );
      expectNone(await compareCopies(served, mirrors, since));
    };
    try {
      for (const [n, ms] of Object.values(clockSteps).entries()) {
        const [brief, lasting] = [webs[n % 2]!, webs[(n + 1) % 2]!];
        const [worker, another] = [workers[n % 5]!, workers[(n + 2) % 5]!];
        await step([brief, worker, another], ms);
        await producer.addSlot("upkeep", { duty: "retention", slot: n + 1 }, "-test");
        await sleep(momentMs);
        await step([brief, worker], 0);
        await step([lasting], ms);
        await sleep(momentMs);
      }
      // Each by another amount, and for good.
      const steps = Object.values(clockSteps).reverse();
      await Promise.all(members.map((one, n) => step([one], steps[n]!)));
      await load.stop();
      await load.retryAll();
      await expectEqual();
      await step(members, 0);
      await untilWell();
      done.abort();
      expectNone(await reading);
      await expectInEffectOnce(served, load.sent);
      await expectEqual();
    } finally {
      done.abort();
      await Promise.all([reading, load.stop(), mirrors.stop()]);
    }
    expectAnswers(load.sent, {});
    expectNone(history.violations);
    expect([...history.reads.keys()]).to.have.members([200, 304]);
    const after = await countRows(country.db);
    for (const [name, count] of Object.entries(before))
      expect(after[name], name).to.be.at.least(count);
    const exits = members.map((one) => one.process().exited);
    expect(await Promise.race([...exits, sleep(0, "none")]), "a role has ended").to.equal("none");
  });

  for (const name of ["-5 min", "+5 min"] as const)
    it(`do not keep a process that is ${name} off from answering the next page of another one`, async () => {
      await untilKnown(`before ${name}`);
      await step([webs[0]!], clockSteps[name]);
      for (const [from, to] of [
        [1, 0],
        [0, 1],
      ] as const) {
        const first = await clients[from]!.get("/stations/all?limit=10");
        expect(first.body.stations).to.have.length(10);
        const cursor = encodeURIComponent(first.body.next_cursor);
        const second = await clients[to]!.get(`/stations/all?limit=10&cursor=${cursor}`);
        expect(second.status, JSON.stringify(second.body)).to.equal(200);
        const seen = [first, second].flatMap(({ body }) => body.stations as { id: string }[]);
        expect(new Set(seen.map(({ id }) => id)).size).to.equal(20);
      }
      await step([webs[0]!], 0);
    });

  it("are told when they are far off: in the log, figures, an alarm and readiness; and the process serves all the same", async () => {
    const [web, subject] = [webs[0]!.process(), "clock of a web process"];
    await untilWell();
    const [told, raised] = [web.lines.length, await clockAlarms(country, subject)];
    await step([webs[0]!], clockSteps["+1 year"]);
    const ready = await until(
      () => readyOf(web),
      (said) => !said.ready,
    );
    expect(ready.checks.clock.critical).to.equal(true);
    expect(ready.checks.clock.detail).to.deep.include({ trusted: false, off: ["own"] });
    expect(web.lines.slice(told)).to.satisfy(saysSo);
    expect(await figures(web, "fuelmark_clock_trusted")).to.deep.equal({ "": 0 });
    const ahead = await figures(web, "fuelmark_clock_offset_seconds");
    expect(ahead['{role="web",of="postgres"}']).to.be.closeTo(-clockSteps["+1 year"] / 1000, 60);
    await until(
      () => clockAlarms(country, subject),
      (count) => count > raised,
    );
    expect((await clients[0]!.get("/stations/all?limit=10")).status).to.equal(200);
    expect((await sendMark(clients[0]!, 1_000_000, 0)).status).to.be.oneOf([200, 202]);
    await step([webs[0]!], 0);
    await untilWell();
  });
});

describe("fault: the clock of Postgres", function () {
  this.timeout(600_000);
  let stage: Stage;
  let clock: FakeClock;

  before(async function () {
    await skipWithoutFaketime(this);
    clock = await createFakeClock();
    stage = await openStage({ own: "postgres", postgresClock: clock, workers: 1 });
  });
  after(() => stage?.close());

  const untilTrusted = async (isTrusted: boolean): Promise<void> => {
    for (const web of stage.webs)
      await until(
        () => readyOf(web),
        ({ ready, checks }) => ready === isTrusted && checks.clock.detail.trusted === isTrusted,
      );
  };

  it("leaves no trace when it is a day ahead for some seconds", async () => {
    await markAll(stage.clients, "first");
    const load = startLoad(stage.clients, 0, { perSecond: 20, stations: stationCount });
    const untilMore = async (count: number): Promise<void> => {
      const known = load.sent.filter(isKept).length;
      await until(
        () => Promise.resolve(load.sent.filter(isKept).length),
        (kept) => kept >= known + count,
      );
    };
    await untilMore(100);
    const from = Date.now();
    clock.set(dayMs);
    await untilTrusted(false);
    await sleep(momentMs);
    clock.set(0);
    await untilTrusted(true);
    const outage = { from, to: Date.now() };
    await untilMore(100);
    await load.stop();
    expectAnswers(load.sent, { outage, postgresAway: true });
    await load.retryAll();
    await expectInEffectOnce(stage, load.sent);

    // What lies in the future would keep out all that comes before it.
    const askedAt = Math.floor(Date.now() / 1000) * 1000;
    await markAll(stage.clients, "last");
    for (const client of stage.clients)
      for (let n = 0; n < stationCount; n += 1) {
        const { body } = await until(
          () => client.get(`/stations/${placeOf(n).id}`),
          (answer) => (parseTime(answer.body.station.fuel.updated) ?? 0) >= askedAt,
        );
        expect(parseTime(body.station.fuel.updated)).to.be.at.most(Date.now() + 1000);
      }
    for (const client of stage.clients) {
      let since = formatTime(askedAt);
      await until(
        async () => {
          const { body } = await client.get(`/stations/delta?updated_since=${since}`);
          since = body.as_of;
          return body.stations as unknown[];
        },
        (changed) => changed.length === 0,
      );
    }
  });

  it("is told when it is wrong for good: marks wait, reads go on, and all goes on by itself", async () => {
    const raised = await clockAlarms(stage.country, "clock of postgres");
    const told = stage.webs.map(({ lines }) => lines.length);
    clock.set(-dayMs);
    await untilTrusted(false);
    // A step that lasts is followed only when another clock confirms it.
    await sleep(settleMs + momentMs);
    for (const [n, web] of stage.webs.entries()) {
      expect((await readyOf(web)).checks.clock.detail.off).to.deep.equal(["postgres"]);
      expect(await figures(web, "fuelmark_clock_trusted")).to.deep.equal({ "": 0 });
      expect(web.lines.slice(told[n])).to.satisfy(saysSo);
      const refused = await sendMark(stage.clients[n]!, 2_000_000 + n, n);
      expect(refused.status).to.equal(503);
      expect(Number(refused.retryAfter)).to.be.above(0);
      expect((await stage.clients[n]!.get(`/stations/${placeOf(n).id}`)).status).to.equal(200);
    }
    await until(
      () => clockAlarms(stage.country, "clock of postgres"),
      (count) => count > raised,
    );
    clock.set(0);
    await untilTrusted(true);
    for (const [n, client] of stage.clients.entries())
      expect(await sendMark(client, 2_000_000 + n, n)).to.satisfy(isKept);
  });
});
