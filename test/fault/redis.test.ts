import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
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
});
