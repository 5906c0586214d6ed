import { expect } from "chai";
import { createIdBatcher } from "#src/infrastructure/batcher.ts";

/** A run that ends when it is told to. */
function handRun() {
  const runs: { stationIds: readonly string[]; end: (error?: Error) => void }[] = [];
  const run = (stationIds: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      runs.push({
        stationIds,
        end: (error) => (error === undefined ? resolve() : reject(error)),
      });
    });
  return { runs, run };
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a batcher of ids", () => {
  it("runs a lone job at once", () => {
    const { runs, run } = handRun();
    void createIdBatcher(run, 2)(["a"]);
    expect(runs.map((one) => one.stationIds)).to.deep.equal([["a"]]);
  });

  it("puts what comes while all runs are under way into one run, each station once", async () => {
    const { runs, run } = handRun();
    const coalesce = createIdBatcher(run, 1);
    const done: string[] = [];
    void coalesce(["a"]).then(() => done.push("first"));
    void coalesce(["b", "a"]).then(() => done.push("second"));
    void coalesce(["b", "c"]).then(() => done.push("third"));
    runs[0]!.end();
    await soon();
    expect(done).to.deep.equal(["first"]);
    expect(runs[1]!.stationIds).to.have.members(["b", "a", "c"]);
    runs[1]!.end();
    await soon();
    expect(done).to.deep.equal(["first", "second", "third"]);
  });

  it("gives the result of a run to all that share it", async () => {
    let runs = 0;
    const coalesce = createIdBatcher(async (stationIds) => {
      await soon();
      return `run ${++runs} of ${stationIds.join(" ")}`;
    }, 1);
    const results = await Promise.all([coalesce(["a"]), coalesce(["b"]), coalesce(["c", "b"])]);
    expect(results).to.deep.equal(["run 1 of a", "run 2 of b c", "run 2 of b c"]);
  });

  it("fails everyone in a run that fails, and goes on", async () => {
    const { runs, run } = handRun();
    const coalesce = createIdBatcher(run, 1);
    const failing = coalesce(["a"]).catch((error: Error) => error.message);
    const next = coalesce(["b"]);
    runs[0]!.end(new Error("away"));
    expect(await failing).to.equal("away");
    runs[1]!.end();
    await next;
  });

  it("coalesces at most 500 stations, and a larger job alone", async () => {
    const { runs, run } = handRun();
    const coalesce = createIdBatcher(run, 1);
    const many = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, n) => `${prefix}${n}`);
    void coalesce(["a"]);
    void coalesce(many("b", 600));
    void coalesce(many("c", 300));
    void coalesce(many("d", 200));
    for (let n = 0; n < 3; n++) {
      runs[n]!.end();
      await soon();
    }
    expect(runs.map((one) => one.stationIds.length)).to.deep.equal([1, 600, 500]);
  });
});
