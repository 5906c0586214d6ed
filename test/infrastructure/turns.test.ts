import { expect } from "chai";
import { ownTurn } from "#src/infrastructure/turns.ts";

describe("turns of the event loop", () => {
  it("are given to one of many works each, in their order", async () => {
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const worked: { n: number; turn: number }[] = [];
    await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        await ownTurn();
        worked.push({ n, turn });
      }),
    );
    isOver = true;
    expect(new Set(worked.map((one) => one.turn)).size).to.equal(50);
    expect(worked.map(({ n }) => n)).to.deep.equal([...Array(50).keys()]);
  });
});
