import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import pg from "pg";
import { startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";

describe("fault: Postgres is away", function () {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ own: "postgres", workers: 2 });
  });
  afterEach(() => stage.close());

  it("answers 503 with Retry-After while Postgres restarts, and takes each mark once", async () => {
    const load = startLoad(stage.clients);
    await sleep(4000);
    const from = Date.now();
    await stage.postgres!.stop();
    await sleep(3000);
    await stage.postgres!.restart();
    const outage = { from, to: Date.now() + 500 };
    await sleep(8000);
    await load.stop();
    await load.retryAll();
    expect(load.sent.some(({ status }) => status === 503)).to.equal(true);
    expectAnswers(load.sent, { outage, postgresAway: true });
    await expectInEffectOnce(stage, load.sent);
  });

  it("takes each mark once while all connections to Postgres are cut every 200 ms", async () => {
    const load = startLoad(stage.clients);
    await sleep(4000);
    const from = Date.now();
    await cutConnections(stage.env["DATABASE_URL"]!, 10_000);
    const outage = { from, to: Date.now() + 500 };
    await sleep(8000);
    await load.stop();
    await load.retryAll();
    expectAnswers(load.sent, { outage, postgresAway: true });
    await expectInEffectOnce(stage, load.sent);
  });
});

/** Ends every other connection of the database each 200 ms. */
async function cutConnections(url: string, forMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const end = Date.now() + forMs; Date.now() < end; await sleep(200)) {
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
      );
    }
  } finally {
    await client.end();
  }
}
