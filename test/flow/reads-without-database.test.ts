import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { pino } from "pino";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { useEdgeOn } from "#test/api/edge.ts";

describe("flow: station reads and Postgres", () => {
  // The follower's poll and the refreshes are not reads of a caller: they are kept out of the count.
  const { instance, country } = useStage(50, [], {
    POLL_MS: "60000",
    KEYS_REFRESH_MS: "15000",
  });
  const edge = useEdgeOn(instance, { log: pino({ level: "silent" }) });
  let queries: string[];
  let client: Client;

  before(async () => {
    client = createClient(edge.origin, country.secret);
    await until(
      async () => edge.web.services.service.now().readAt,
      (at) => at !== null,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    queries = [];
    edge.web.services.db.on("query", ({ sql }: { sql: string }) => queries.push(sql));
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
    const text = newKey("secret", randomBytes(32));
    const wrong = createClient(edge.origin, `${text.slice(0, -1)}!`);
    expect((await wrong.get("/stations/all")).status).to.equal(401);
    expect(queries).to.deep.equal([]);
    const key = { partner_id: country.partnerId, kind: "secret", prefix: keyPrefix(text) } as const;
    // Stored without the wake-up that makes the key store load it.
    await country.db("keys").insert({ ...key, hash: Buffer.from(hashKey(text), "hex") });
    const fresh = createClient(edge.origin, text);
    for (let i = 0; i < 5; i++) expect((await fresh.get("/stations/all")).status).to.equal(200);
    expect(queries).to.have.length(1);
  });
});
