import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { clockSteps, createFakeClock, skipWithoutFaketime } from "#test/harness/faketime.ts";
import { startProcess } from "#test/harness/processes.ts";

const program = "setInterval(() => console.log(Date.now(), performance.now()), 50)";

describe("fault: the wall clock of a test's process", function () {
  this.timeout(60_000);
  before(async function () {
    await skipWithoutFaketime(this);
  });

  it("follows each step at once, while timers and the monotonic clock go on", async () => {
    const clock = await createFakeClock();
    const child = await startProcess("ticker", ["node", "-e", program], clock.env);
    const next = async () => {
      const known = child.lines.length;
      await until(
        () => Promise.resolve(child.lines.length),
        (count) => count > known + 1,
      );
      const [wall, monotonic] = child.lines.at(-1)!.split(" ").map(Number);
      return { aheadMs: wall! - Date.now(), monotonic: monotonic! };
    };
    let before = (await next()).monotonic;
    for (const ms of Object.values(clockSteps)) {
      clock.set(ms);
      const { aheadMs, monotonic } = await next();
      expect(aheadMs).to.be.closeTo(ms, 2000);
      expect(monotonic - before).to.be.within(0, 10_000);
      before = monotonic;
    }
    await child.kill9();
  });
});
