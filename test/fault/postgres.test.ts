import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import pg from "pg";
import { createClient } from "#test/flow/client.ts";
import { startRoleProcess } from "#test/harness/processes.ts";
import { startTcpProxy } from "#test/harness/tcp-proxy.ts";
import { isKept, type Sent, startLoad } from "#test/fault/load.ts";
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

  it("answers each mark with 503 within 3 s while Postgres is frozen or out of reach, from the first one on", async function () {
    this.timeout(240_000);
    const url = new URL(stage.env["DATABASE_URL"]!);
    const proxy = await startTcpProxy(Number(url.port));
    url.host = `127.0.0.1:${proxy.port}`;
    const far = await startRoleProcess("web", { ...stage.env, DATABASE_URL: url.href });
    const client = createClient(far.baseUrl, stage.country.secret);
    const all: Sent[] = [];
    try {
      const ways = {
        frozen: { clients: stage.clients, harm: "freeze", mend: "thaw", on: stage.postgres! },
        away: { clients: [client], harm: "blackhole", mend: "pass", on: null },
      } as const;
      for (const [name, { clients, harm, mend, on }] of Object.entries(ways)) {
        const change = (how: typeof harm | typeof mend): void =>
          how === "freeze" || how === "thaw" ? on![how]() : proxy.set(how);
        const load = startLoad(clients, all.length > 0 ? 100_000 : 0);
        await sleep(4000);
        const from = Date.now();
        change(harm);
        await sleep(7000);
        const until = Date.now();
        change(mend);
        await sleep(8000);
        await load.stop();
        const meanwhile = load.sent.filter(
          ({ startedAt: at }) => at > from + 100 && at < until - 3000,
        );
        expect(meanwhile.length, name).to.be.greaterThan(100);
        for (const { status, retryAfter } of meanwhile)
          expect([status, Number(retryAfter) > 0], name).to.deep.equal([503, true]);
        const late = load.sent.filter(
          ({ status, startedAt, endedAt }) => status === 503 && endedAt - startedAt > 3000,
        );
        expect(late.slice(0, 3), `${name}: ${late.length} late`).to.deep.equal([]);
        // No refusal outlives it: places that wait for the frozen server are not all there are.
        const after = load.sent.filter(({ startedAt: at }) => at > until + 4000);
        expect(after.filter(isKept).length / after.length, name).to.be.greaterThan(0.9);
        await load.retryAll();
        all.push(...load.sent);
      }
      await expectInEffectOnce(stage, all);
    } finally {
      await far.stop();
      await proxy.close();
    }
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
