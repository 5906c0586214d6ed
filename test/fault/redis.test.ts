import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { createLog } from "#src/infrastructure/log.ts";
import { createWorkerRedis } from "#src/infrastructure/redis.ts";
import { type Client, until } from "#test/flow/client.ts";
import { startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";

describe("fault: Redis is away", function () {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ own: "redis", workers: 2 });
  });
  afterEach(() => stage.close());

  it("takes and counts every mark while Redis dies and comes back empty", async () => {
    const load = startLoad(stage.clients);
    await sleep(4000);
    await stage.redis!.kill9();
    await sleep(3000);
    await stage.redis!.restart({ wiped: true });
    await sleep(6000);
    await load.stop();
    expectAnswers(load.sent, {});
    await expectInEffectOnce(stage, load.sent);
  });

  it("answers every mark within 4 s while Redis is frozen for 20 s", async () => {
    const load = startLoad(stage.clients);
    await sleep(4000);
    const frozenAt = Date.now();
    stage.redis!.freeze();
    await sleep(20_000);
    stage.redis!.thaw();
    await sleep(5000);
    await load.stop();
    expectAnswers(load.sent, {});
    const slow = load.sent.filter((one) => one.endedAt - one.startedAt > 4000);
    expect(
      slow.map((one) => ({
        afterMs: one.startedAt - frozenAt,
        tookMs: one.endedAt - one.startedAt,
        status: one.status,
      })),
    ).to.deep.equal([]);
    await expectInEffectOnce(stage, load.sent);
  });

  // `FLUSHALL` each half second: without what each process remembers, every one of them would give the minute anew.
  it("lets a partner have no more than its limit from each process while Redis is emptied all the time", async () => {
    const limit = 60;
    await stage.country.db("partners").update({ rpm: limit });
    const redis = createWorkerRedis(stage.config, createLog({ logLevel: "silent" }, "test"));
    const first = async (client: Client) => (await client.get("/cities")).headers;
    for (const client of stage.clients)
      await until(
        () => first(client),
        (headers) => headers.get("x-ratelimit-limit") === String(limit),
      );
    /** Requests that were granted, by the end of their minute and by process. */
    const granted = new Map<string, number[]>();
    const stop = new AbortController();
    const ask = async (client: Client, web: number): Promise<void> => {
      while (!stop.signal.aborted) {
        const { status, headers } = await client.get("/cities");
        expect(status).to.be.oneOf([200, 429]);
        const minute = headers.get("x-ratelimit-reset")!;
        const counts = granted.get(minute) ?? stage.clients.map(() => 0);
        if (status === 200) counts[web]! += 1;
        granted.set(minute, counts);
      }
    };
    const asking = Promise.all(
      stage.clients.flatMap((client, web) => [ask(client, web), ask(client, web)]),
    );
    const minutes = () => [...granted.keys()].sort();
    // A whole minute, which ends when the third has begun.
    while (minutes().length < 3) {
      await Promise.race([redis.flushall(), asking]);
      await sleep(500);
    }
    stop.abort();
    await asking;
    redis.disconnect();
    for (const counts of granted.values())
      for (const count of counts) expect(count, JSON.stringify([...granted])).to.be.at.most(limit);
    const [own, others] = granted.get(minutes()[1]!)!;
    expect(own! + others!).to.be.at.least(limit);
  });
});
