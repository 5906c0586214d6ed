import { expect } from "chai";
import { type MirrorStage, openMirrorStage } from "#test/flow/mirror-stage.ts";

describe("long: ten mirrors over three web processes, seed after seed", function () {
  let stage: MirrorStage;
  before(async () => {
    stage = await openMirrorStage();
  });
  after(() => stage?.close());

  for (let seed = 1; seed <= 20; seed++) {
    it(`end equal to the country, with seed ${seed}`, async () => {
      const { marks, answers, restarts } = await stage.play({
        seed,
        writeMs: 23_000,
        strangerMs: 20_000,
      });
      expect(marks).to.be.greaterThan(1500);
      expect(answers).to.be.greaterThan(200);
      expect(restarts).to.be.greaterThan(20);
    });
  }
});
