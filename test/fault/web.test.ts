import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { type Load, sendMark, startLoad } from "#test/fault/load.ts";
import { expectAnswers, expectInEffectOnce } from "#test/fault/proof.ts";
import { openStage, type Stage } from "#test/fault/stage.ts";
import { holdStation } from "#test/fault/station-hold.ts";
import { placeOf } from "#test/flow/country.ts";

describe("fault: a web process is killed", function () {
  let stage: Stage;
  let load: Load;
  beforeEach(async () => {
    stage = await openStage({ workers: 2 });
    load = startLoad(stage.clients);
  });
  afterEach(() => stage.close());

  it("takes the retry of a mark whose answer died with its process as a duplicate, and loses and doubles none", async () => {
    const from = Date.now();
    const extra = [];
    await sleep(3000);
    for (let round = 0; round < 3; round++) {
      const index = round % 2;
      const number = 1_000_000 + round;
      const hold = await holdStation(stage.env["DATABASE_URL"]!, placeOf(round).id);
      const dying = sendMark(stage.clients[index]!, number, round);
      const [stored] = await until(
        () =>
          rows<{ id: number }>(stage.country.db, "select id from marks where external_id = ?", [
            `mark-${number}`,
          ]),
        (found) => found.length === 1,
      );
      await stage.webs[index]!.kill9();
      expect((await dying).status).to.equal(0);
      await hold.release();
      const retried = await sendMark(stage.clients[1 - index]!, number, round);
      expect(retried.body).to.include({ duplicate: true, report_id: String(stored!.id) });
      extra.push(retried);
      await sleep(500);
      await stage.restartWeb(index);
      await sleep(1500);
    }
    const outage = { from, to: Date.now() };
    await sleep(4000);
    await load.stop();
    await load.retryAll();
    const all = [...load.sent, ...extra];
    expectAnswers(all, { outage, broken: true });
    await expectInEffectOnce(stage, all);
  });
});
