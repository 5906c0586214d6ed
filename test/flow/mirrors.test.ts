import { expect } from "chai";
import { type MirrorStage, openMirrorStage } from "#test/flow/mirror-stage.ts";

// Twenty seeds with longer times are in test/fault/mirrors.test.ts.
describe("flow: ten mirrors over three web processes", function () {
  this.timeout(120_000);
  let stage: MirrorStage;
  before(async () => {
    stage = await openMirrorStage();
  });
  after(() => stage?.close());

  it("end equal to the country after marks, expiries, imports, removals, restarts and a stranger's transaction", async () => {
    const seed = Number(process.env["SEED"] ?? 1);
    const { marks, answers, restarts } = await stage.play({
      seed,
      writeMs: 21_000,
      strangerMs: 20_000,
    });
    expect(marks).to.be.greaterThan(800);
    expect(answers).to.be.greaterThan(100);
    expect(restarts).to.be.greaterThan(10);
  });
});
