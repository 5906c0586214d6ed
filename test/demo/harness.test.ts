import { expect } from "chai";
import pg from "pg";
import { until } from "#test/flow/client.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { startPrivatePostgres, startPrivateRedis } from "#test/harness/servers.ts";
import { Redis } from "ioredis";

describe("the test harness", () => {
  let instance: TestInstance;
  before(async () => {
    instance = await createTestInstance();
  });
  after(() => instance.drop());

  it("gives a test file a migrated database of its own", async () => {
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    const { rows } = await client.query("select count(*)::int as n from stations");
    await client.end();
    expect(rows).to.deep.equal([{ n: 0 }]);
  });

  it("refuses to drop a database that a test is still connected to", async () => {
    const other = await createTestInstance();
    const client = new pg.Client({
      connectionString: other.databaseUrl,
      application_name: "forgotten",
    });
    client.on("error", () => undefined);
    await client.connect();
    const fault = await other.drop().then(
      () => "",
      (error: Error) => error.message,
    );
    expect(fault).to.match(/left open.*forgotten/s);
  });

  it("freezes, kills, wipes and restarts a Redis that a test owns", async () => {
    const server = await startPrivateRedis({ durable: true });
    const redis = new Redis(server.url, { commandTimeout: 200, retryStrategy: () => 20 });
    redis.on("error", () => undefined);
    const asked = () => redis.get("a").catch((error: Error) => error.message);
    // On a busy machine an answer may take longer than the command's patience.
    const answers = (expected: string | null) => until(asked, (answer) => answer === expected);
    try {
      await redis.set("a", "1");
      server.freeze();
      expect(await asked()).to.match(/timed out/);
      server.thaw();
      await answers("1");
      await server.kill9();
      await server.restart();
      await answers("1");
      await server.restart({ wiped: true });
      await answers(null);
    } finally {
      redis.disconnect();
      await server.drop();
    }
  });

  it("freezes, kills and restarts a Postgres that a test owns", async () => {
    const server = await startPrivatePostgres();
    const ask = async () => {
      const client = new pg.Client({
        connectionString: server.url,
        query_timeout: 300,
        connectionTimeoutMillis: 300,
      });
      client.on("error", () => undefined);
      try {
        await client.connect();
        return (await client.query<{ a: number }>("select 1 as a")).rows[0]?.a;
      } catch {
        return "no answer";
      } finally {
        void client.end().catch(() => undefined);
      }
    };
    const answers = () => until(ask, (answer) => answer === 1);
    try {
      await answers();
      server.freeze();
      expect(await ask()).to.equal("no answer");
      server.thaw();
      await answers();
      await server.kill9();
      expect(await ask()).to.equal("no answer");
      await server.restart();
      await answers();
    } finally {
      await server.drop();
    }
  }).timeout(30_000);
});
