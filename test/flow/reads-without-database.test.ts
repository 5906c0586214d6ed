import { expect } from "chai";
import pg from "pg";
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
  const { query } = pg.Client.prototype;
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
    // Below knex, where pipelined statements pass too. What a process refreshes by itself is of other tables.
    pg.Client.prototype.query = function (this: pg.Client, ...args: [pg.QueryConfig | string]) {
      const sql = typeof args[0] === "string" ? args[0] : args[0].text;
      if (/\b(stations|station_status|cities|changes|chances)\b/.test(sql)) queries.push(sql);
      return Reflect.apply(query, this, args) as Promise<pg.QueryResult>;
    } as typeof query;
  });
  after(() => void (pg.Client.prototype.query = query));

  it("touches Postgres for none of its station reads", async () => {
    queries.splice(0);
    const paths = [
      "/stations?bbox=54.9,36.9,55.2,37.1",
      "/stations?city=Тестоград&radius_km=30&status=nodata&q=brand",
      "/stations/all",
      "/stations/all?limit=10",
      `/stations/${placeOf(3).id}`,
      `/stations/delta?updated_since=${new Date(Date.now() - 3600_000).toISOString()}`,
      "/cities?q=тест",
    ];
    for (const path of paths) {
      const answer = await client.get(encodeURI(path));
      expect(answer.status, path).to.equal(200);
      const etag = answer.headers.get("etag");
      if (etag !== null)
        expect(
          (await client.get(encodeURI(path), { "If-None-Match": etag })).status,
          path,
        ).to.equal(304);
    }
    // With a secret key an id that is none of ours may be its source's, which only Postgres knows.
    const page = createClient(edge.origin, country.publishable);
    expect((await page.get("/stations/nowhere")).status).to.equal(404);
    expect(queries).to.deep.equal([]);
  });
});
