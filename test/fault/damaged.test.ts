import { expect } from "chai";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis, type Redis } from "#src/infrastructure/redis.ts";
import { serving, writeStations } from "#test/api/reads-country.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";

const paths = ["/stations/all", "/stations/all?status=yes"];

describe("fault: damaged data in Redis", function () {
  this.timeout(240_000);
  let instance: TestInstance;
  let country: Country;
  let redis: Redis;
  let snapshots: RunningRole;
  let clock: RunningRole | null = null;
  let webs: RunningRole[] = [];

  before(async () => {
    const times = { SLOT_MS: "500", DUMP_MAX_AGE_MS: "60000", INSIGHTS_MS: "1000" };
    instance = await createTestInstance(times);
    redis = createWorkerRedis(instance.config, createLog({ logLevel: "silent" }, "test"));
    country = await openCountry(instance.config, 50);
    await writeStations(
      country.db,
      Array.from({ length: 50 }, (_, n) => ({
        ...placeOf(n),
        state: serving(n % 2 === 0 ? "yes" : "no", Date.now() - 60_000),
      })),
    );
    snapshots = await startRole("snapshots", instance.env);
    await enqueue();
  });
  after(async () => {
    await stopWebs();
    await snapshots?.stop();
    await clock?.stop();
    redis?.disconnect();
    await country?.close();
    await instance?.drop();
  });

  const key = (end: string): string => `${instance.redisPrefix}:${end}`;
  const stored = async (): Promise<string[]> =>
    (await redis.keys(key("*"))).filter((name) => /:(dump|insights|model):\d/.test(name));
  /** Lets a clock enqueue duties until all is stored, and ends it: nothing is made after that. */
  const enqueue = async (): Promise<void> => {
    clock = await startRole("clock", instance.env);
    await until(
      async () => Promise.all((await stored()).map((name) => redis.type(name))),
      (types) => types.length === 13 && types.every((type) => type === "hash"),
    );
    await clock.stop();
    clock = null;
    await until(
      async () => redis.llen(key("bull:snapshots:active")),
      (count) => count === 0,
    );
  };
  /** A running web process drops what it finds damaged. */
  const stopWebs = async (): Promise<void> => {
    await Promise.all(webs.map((role) => role.stop()));
    webs = [];
  };
  const web = async (): Promise<{ role: RunningRole; client: Client }> => {
    const role = await startRole("web", instance.env);
    webs.push(role);
    return { role, client: createClient(role.baseUrl, country.secret) };
  };
  const insightsStatus = async ({ baseUrl }: RunningRole): Promise<number> =>
    (await createClient(baseUrl, country.secret).get("/insights/cities")).status;
  /** What a web process answers that has just started; `fetch` unpacks it. */
  const answers = async (client: Client) => {
    const found = [];
    for (const path of paths)
      for (const coding of ["gzip", "br", "identity"]) {
        const { status, body } = await client.get(path, { "Accept-Encoding": coding });
        expect(status).to.equal(200);
        found.push((body as { stations: unknown }).stations);
      }
    return found;
  };
  const damageAll = async (damage: (name: string) => Promise<unknown>): Promise<void> => {
    for (const name of await stored()) await damage(name);
  };

  it("is neither served nor believed, is counted, and is made anew in the next slot", async () => {
    const { role, client } = await web();
    const right = await answers(client);
    expect(right[0]).to.have.length(50);
    expect(right[5]).to.have.length(25);
    expect(await insightsStatus(role)).to.equal(200);

    /** Flips a byte in the middle of each field. */
    const flip = async (name: string): Promise<void> => {
      for (const [field, value] of Object.entries(await redis.hgetallBuffer(name))) {
        if (value.length === 0) continue;
        const at = value.length >> 1;
        value[at] = value[at]! ^ 1;
        await redis.hset(name, field, value);
      }
    };
    const flipBody = async (name: string): Promise<void> => {
      const fields = ["gzip", "br", "body", "now"];
      for (const field of fields) {
        const value = await redis.hgetBuffer(name, field);
        if (value === null || value.length === 0) continue;
        value[value.length >> 1]! ^= 0x10;
        await redis.hset(name, field, value);
      }
    };
    const cut = async (name: string): Promise<void> => {
      for (const field of ["gzip", "body", "now"])
        if ((await redis.hexists(name, field)) === 1) await redis.hset(name, field, "");
    };
    const half = (name: string): Promise<unknown> => redis.hdel(name, "gzip", "body", "now");
    const otherType = async (name: string): Promise<void> => {
      await redis.unlink(name);
      await redis.rpush(name, "foreign");
    };
    for (const damage of [flipBody, flip, cut, half, otherType]) {
      await stopWebs();
      await damageAll(damage);
      const fresh = await web();
      expect(await answers(fresh.client), damage.name).to.deep.equal(right);
      expect(await insightsStatus(fresh.role), damage.name).to.equal(503);
      const metrics = await (await fetch(`${fresh.role.baseUrl}/metrics`)).text();
      for (const kind of ["dump", "set", "insights"])
        expect(metrics, damage.name).to.match(
          new RegExp(`^fuelmark_stored_damaged_total{kind="${kind}"} [1-9]`, "m"),
        );
      const health = await (await fetch(`${fresh.role.baseUrl}/readyz`)).json();
      expect((health as { degraded: string[] }).degraded).to.include("stored");
      expect(fresh.role.lines.filter((line) => /damaged data in redis/.test(line))).to.have.length(
        1,
      );
      await enqueue();
      // Whole again: what a further process reads, it uses.
      const healed = await web();
      expect(await answers(healed.client), damage.name).to.deep.equal(right);
      expect(await insightsStatus(healed.role), damage.name).to.equal(200);
      const after = await (await fetch(`${healed.role.baseUrl}/metrics`)).text();
      expect(after, damage.name).to.not.match(/^fuelmark_stored_damaged_total{.* [1-9]/m);
    }
  });
});
