import { expect } from "chai";
import { pino } from "pino";
import { assembleWeb, type Web } from "#api/assemble.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type Client, createClient } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";

describe("flow: station reads and Postgres", () => {
  let instance: TestInstance;
  let country: Country;
  let web: Web;
  let queries: string[];
  let client: Client;

  before(async () => {
    // The follower's poll and the refreshes are not reads of a caller: they are kept out of the count.
    instance = await createTestInstance({ POLL_MS: "60000", KEYS_REFRESH_MS: "600000" });
    country = await openCountry(instance.config, 50);
    web = assembleWeb(instance.config, { log: pino({ level: "silent" }) });
    const { port } = await web.start();
    client = createClient(`http://127.0.0.1:${port}`, country.secret);
    await new Promise((resolve) => setTimeout(resolve, 300));
    queries = [];
    web.services.db.on("query", ({ sql }: { sql: string }) => queries.push(sql));
  });

  after(async () => {
    await web.stop();
    await country.close();
    await instance.drop();
  });

  it("touches Postgres for none of its station reads", async () => {
    const paths = [
      "/stations?bbox=54.9,36.9,55.2,37.1",
      "/stations?city=Тестоград&radius_km=30&status=nodata&q=brand",
      "/stations/all",
      "/stations/all?limit=10",
      `/stations/${placeOf(3).id}`,
      "/stations/nowhere",
      `/stations/delta?updated_since=${new Date(Date.now() - 3600_000).toISOString()}`,
      "/cities?q=тест",
    ];
    for (const path of paths) {
      const answer = await client.get(encodeURI(path));
      expect(answer.status, path).to.equal(path.endsWith("nowhere") ? 404 : 200);
      const etag = answer.headers.get("etag");
      if (etag !== null)
        expect(
          (await client.get(encodeURI(path), { "If-None-Match": etag })).status,
          path,
        ).to.equal(304);
    }
    expect(queries).to.deep.equal([]);
  });

  it("looks a key up once, at its first sight, and never a text that fails its checksum", async () => {
    const stranger = createClient(
      `http://127.0.0.1:${(web.server.address() as { port: number }).port}`,
      `${country.secret.slice(0, -1)}!`,
    );
    expect((await stranger.get("/stations/all")).status).to.equal(401);
    expect(queries).to.deep.equal([]);
  });
});
