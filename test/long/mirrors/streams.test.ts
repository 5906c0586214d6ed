import { expect } from "chai";
import { type MirrorStage, openMirrorStage } from "#test/flow/mirror-stage.ts";

describe("long: ten mirrors by stream, with a process killed, one frozen and Redis wiped", function () {
  let stage: MirrorStage;
  before(async () => {
    stage = await openMirrorStage("streams");
  });
  after(() => stage?.close());

  for (let seed = 1; seed <= 5; seed++) {
    it(`end equal to the country, with seed ${seed}`, async () => {
      const { marks, restarts, streams } = await stage.play({
        seed,
        writeMs: 23_000,
        strangerMs: 20_000,
      });
      expect(marks).to.be.greaterThan(1500);
      expect(restarts).to.be.greaterThan(20);
      expect(streams).to.be.greaterThan(20);
    });
  }
});
