import { expect } from "chai";
import { type MirrorStage, openMirrorStage } from "#test/flow/mirror-stage.ts";

// Twenty seeds with longer times are in test/long/mirrors.
describe("flow: ten mirrors over three web processes", function () {
  let stage: MirrorStage;
  before(async () => {
    stage = await openMirrorStage();
  });
  after(() => stage?.close());

  it("end equal to the country after marks, expiries, imports, removals, restarts and a stranger's transaction", async () => {
    const seed = Number(process.env["SEED"] ?? 1);
    const { marks, answers, restarts } = await stage.play({
      seed,
      writeMs: 6000,
      strangerMs: 5000,
    });
    expect(marks).to.be.greaterThan(100);
    expect(answers).to.be.greaterThan(40);
    expect(restarts).to.be.greaterThan(3);
  });
});
