import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { createLog } from "#src/infrastructure/log.ts";
import { createProducer, type Producer } from "#src/infrastructure/queues.ts";
import { createWorkerRedis, type Redis } from "#src/infrastructure/redis.ts";
import { createDumpStore } from "#snapshots/dumps/dump-store.ts";
import { countRows } from "#test/fault/proof.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";
import {
  clockSteps,
  createFakeClock,
  type FakeClock,
  skipWithoutFaketime,
  startRoleUnderClock,
} from "#test/harness/faketime.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import type { RoleProcess } from "#test/harness/processes.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";

const slotMs = 1000;
const stationCount = 40;
/** Longer than any of these duties may wait. */
const patienceMs = 120_000;
const momentMs = 3000;

describe("fault: the wall clocks of upkeep and clock", function () {
  this.timeout(600_000);
  let instance: TestInstance;
  let country: Country;
  let client: Client;
  let redis: Redis;
  let producer: Producer;
  let wall: FakeClock;
  let [slot, sent] = [0, 0];
  /** Those whose clock is right, and those whose clock the test sets. */
  const others: RunningRole[] = [];
  let roles: RoleProcess[] = [];

  before(async function () {
    await skipWithoutFaketime(this);
    const caps = { NEW_REPORTERS_DAILY: "1000000", MASS_NO_LIMIT: "1000000" };
    instance = await createTestInstance({
      SLOT_MS: String(slotMs),
      DUMP_MAX_AGE_MS: String(2 * slotMs),
      ...caps,
    });
    const { config, env } = instance;
    country = await openCountry(config, stationCount);
    const log = createLog({ logLevel: "silent" }, "test");
    redis = createWorkerRedis(config, log);
    producer = createProducer(config, log);
    wall = await createFakeClock();
    for (const role of ["web", "marks", "snapshots"]) others.push(await startRole(role, env));
    client = createClient(others[0]!.baseUrl, country.secret);
    await startRoles();
  });
  after(async () => {
    await Promise.all([...roles, ...others].map((role) => role.stop()));
    await producer?.close();
    redis?.disconnect();
    await country?.close();
    await instance?.drop();
  });

  const startRoles = async (): Promise<void> => {
    roles = await Promise.all(
      ["upkeep", "clock"].map((role) => startRoleUnderClock(role, instance.env, wall)),
    );
  };
  const mark = async (): Promise<void> => {
    sent += 1;
    const said = { status: "yes", fuels: ["95"], external_id: `mark-${sent}` };
    const answer = await client.mark(placeOf(sent % stationCount), `user-${sent}`, said);
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 202]);
  };
  const notes = (): Promise<Record<string, string>> =>
    redis.hgetall(`${instance.config.redisPrefix}:duties`);
  const builtAt = async (): Promise<number> =>
    (await createDumpStore(redis, instance.config.redisPrefix, 0).head())?.builtAtMs ?? 0;

  /** The duties go on, each of them done again twice, and new dumps are made. */
  const goOn = async (): Promise<void> => {
    for (let times = 0; times < 2; times += 1) {
      const [before, dump] = [await notes(), await builtAt()];
      for (const duty of ["dump", "sets", "model", "instants", "failover", "webhooks"])
        await until(notes, (found) => found[duty] !== before[duty], patienceMs);
      await until(builtAt, (at) => at !== dump, patienceMs);
    }
    expect(Math.abs(Date.now() - (await builtAt()))).to.be.below(patienceMs);
  };
  /** What the hour brings is done now, too. */
  const retire = async (): Promise<void> => {
    const before = await notes();
    slot += 1;
    await producer.addSlot("upkeep", { duty: "retention", slot }, "-test");
    await until(notes, (found) => found["retention"] !== before["retention"], patienceMs);
  };
  const nothingLess = async (work: () => Promise<void>): Promise<void> => {
    await mark();
    const before = await countRows(country.db);
    await work();
    await mark();
    const after = await countRows(country.db);
    for (const [name, count] of Object.entries(before))
      expect(after[name], name).to.be.at.least(count);
    expect(after["marks"]).to.be.above(before["marks"]!);
    expect(after["days"]! - before["days"]!).to.be.at.most(8);
    const ended = await Promise.race([...roles.map(({ exited }) => exited), sleep(0, "none")]);
    expect(ended, "a role has ended").to.equal("none");
  };

  for (const [name, ms] of Object.entries(clockSteps))
    it(`deletes nothing, and schedules go on, when they are ${name} off, for a moment and for good`, () =>
      nothingLess(async () => {
        wall.set(ms);
        await retire();
        await sleep(momentMs);
        wall.set(0);
        await goOn();
        wall.set(ms);
        await goOn();
        await retire();
      }));

  for (const name of ["+1 year", "-1 year"] as const)
    it(`deletes nothing, and schedules go on, when they start ${name} off, and are right later`, () =>
      nothingLess(async () => {
        await Promise.all(roles.map((role) => role.stop()));
        wall.set(clockSteps[name]);
        await startRoles();
        await goOn();
        await retire();
        wall.set(0);
        await goOn();
      }));
});
