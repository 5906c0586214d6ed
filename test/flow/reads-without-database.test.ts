import { expect } from "chai";
import { pino } from "pino";
import { rows } from "#src/infrastructure/db.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { useEdgeOn } from "#test/api/edge.ts";

describe("flow: station reads and Postgres", () => {
  // The follower's poll is no read of a caller.
  const { instance, country } = useStage(50, [], { POLL_MS: "60000" });
  const edge = useEdgeOn(instance, { log: pino({ level: "silent" }) });
  const queries: string[] = [];
  let client: Client;

  before(async () => {
    client = createClient(edge.origin, country.secret);
    await until(
      async () => edge.web.services.service.now().readAt,
      (at) => at !== null,
    );
    // Once the follower listens, it reads what came before that.
    await until(
      () =>
        rows(
          country.db,
          `select from pg_stat_activity where datname = current_database() and state = 'idle'
           and application_name = 'fuelmark listens to changes' and query like 'listen %'`,
        ),
      ({ length }) => length > 0,
    );
    await edge.web.services.follower.refresh();
    // What a process refreshes by itself is of other tables.
    edge.web.services.db.on("query", ({ sql }: { sql: string }) => {
      if (/\b(stations|station_status|cities|changes|chances)\b/.test(sql)) queries.push(sql);
    });
  });

  it("touches Postgres for none of its station reads", async () => {
    queries.splice(0);
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
});
