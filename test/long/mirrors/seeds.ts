import { expect } from "chai";
import { type MirrorStage, openMirrorStage } from "#test/flow/mirror-stage.ts";

/** Five of the twenty seeds; a file for each part, because a seed is mostly waited for. */
export function playSeeds(first: number): void {
  describe(`long: ten mirrors over three web processes, seeds from ${first} on`, function () {
    let stage: MirrorStage;
    before(async () => {
      stage = await openMirrorStage();
    });
    after(() => stage?.close());

    for (let seed = first; seed < first + 5; seed++) {
      it(`end equal to the country, with seed ${seed}`, async () => {
        const { marks, answers, restarts } = await stage.play({
          seed,
          writeMs: 23_000,
          strangerMs: 20_000,
        });
        expect(marks).to.be.greaterThan(500);
        expect(answers).to.be.greaterThan(50);
        expect(restarts).to.be.greaterThan(10);
      });
    }
  });
}
