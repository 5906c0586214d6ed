import { expect } from "chai";
import pg from "pg";
import { readFacts } from "#api/marks/intake-rows.ts";
import type { IncomingMark } from "#src/domain/admit.ts";
import type { Statements } from "#src/infrastructure/db.ts";
import { rowsOfPlan } from "#test/harness/statements.ts";
import { useInstance } from "#test/harness/use.ts";

describe("the facts about a batch of marks", () => {
  const instance = useInstance();

  it("are read by probes, also by a plan that was made while no mark was stored", async () => {
    const client = new pg.Client({ connectionString: instance.databaseUrl });
    await client.connect();
    const kept: Statements = {
      raw: (sql, values) => {
        let n = 0;
        const text = sql.replaceAll("?", () => `$${++n}`);
        return client.query({ name: "kept", text, values: [...values] });
      },
    };
    const mark = {
      ...{ stationId: "n1", status: "no", confirms: false, confirmMin: 0, nearbyIds: ["n1", "n2"] },
      ...{ reporter: "ab", partnerId: 1, externalId: null, viewer: null },
      newUsersLimit: 500,
    } as unknown as IncomingMark;
    try {
      await client.query("insert into reporters (hash, first_seen) values ('\\xab', now())");
      await client.query("set plan_cache_mode = force_generic_plan; set enable_seqscan = off");
      await readFacts(kept, [mark], instance.config, Date.now);
      await client.query(
        `insert into marks (id, station_id, reporter_id, source, status, received_at, effective_at, remote, needed, rule)
         select next_mark_id(now()), 'other', -n, 'partner', 'yes', now(), now(), false, 1, 'geolocated' from generate_series(1, 500) n`,
      );
      const asked = "execute kept('{ab}', '{1}', '{null}', '{500}', 1, '{}', '{}', '{n1,n2}')";
      expect(Math.max(...(await rowsOfPlan(client, asked)))).to.be.at.most(2);
    } finally {
      await client.end();
    }
  });
});
