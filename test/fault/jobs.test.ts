import { setTimeout as sleep } from "node:timers/promises";
import { assembleWeb, type Web } from "#api/assemble.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createClient } from "#test/flow/client.ts";
import { startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";

describe("fault: jobs come more than once", function () {
  let stage: Stage;
  let webs: Web[];
  beforeEach(async () => {
    stage = await openStage({ webs: 0, workers: 3 });
    // In this process, where their queues can be reached.
    const log = createLog({ logLevel: "silent" }, "web");
    webs = [1, 2].map(() => assembleWeb({ ...stage.config, port: 0 }, { log }));
    for (const web of webs) {
      const { port } = await web.start();
      stage.clients.push(createClient(`http://127.0.0.1:${port}`, stage.country.secret));
      addThreeTimes(web);
    }
  });
  afterEach(async () => {
    for (const web of webs) await web.stop();
    await stage.close();
  });

  it("takes each mark once when every job is added three times", async () => {
    const load = startLoad(stage.clients);
    await sleep(15_000);
    await load.stop();
    expectAnswers(load.sent, {});
    await expectInEffectOnce(stage, load.sent);
  });
});

function addThreeTimes({ services: { producer } }: Web): void {
  const queue = producer.queue("marks");
  const add = queue.add.bind(queue);
  queue.add = async (...job) => {
    await add(...job);
    await add(...job);
    return add(...job);
  };
}
