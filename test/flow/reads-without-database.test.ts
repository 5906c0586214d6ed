import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { pino } from "pino";
import { assembleWeb, type Web } from "#api/assemble.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";

describe("flow: station reads and Postgres", () => {
  let instance: TestInstance;
  let country: Country;
  let web: Web;
  let queries: string[];
  let client: Client;

  before(async () => {
    // The follower's poll and the refreshes are not reads of a caller: they are kept out of the count.
    instance = await createTestInstance({ POLL_MS: "60000", KEYS_REFRESH_MS: "15000" });
    country = await openCountry(instance.config, 50);
    web = assembleWeb(instance.config, { log: pino({ level: "silent" }) });
    const { port } = await web.start();
    client = createClient(`http://127.0.0.1:${port}`, country.secret);
    await until(
      async () => web.services.service.now().readAt,
      (at) => at !== null,
    );
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

  it("looks a new key up once, at its first sight, and never a text that fails its checksum", async () => {
    const { port } = web.server.address() as AddressInfo;
    const text = newKey("secret", randomBytes(32));
    const wrong = createClient(`http://127.0.0.1:${port}`, `${text.slice(0, -1)}!`);
    expect((await wrong.get("/stations/all")).status).to.equal(401);
    expect(queries).to.deep.equal([]);
    const key = { partner_id: country.partnerId, kind: "secret", prefix: keyPrefix(text) } as const;
    // Stored without the wake-up that makes the key store load it.
    await country.db("keys").insert({ ...key, hash: Buffer.from(hashKey(text), "hex") });
    const fresh = createClient(`http://127.0.0.1:${port}`, text);
    for (let i = 0; i < 5; i++) expect((await fresh.get("/stations/all")).status).to.equal(200);
    expect(queries).to.have.length(1);
  });
});
