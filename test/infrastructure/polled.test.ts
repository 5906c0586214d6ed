import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { createParts } from "#src/infrastructure/parts.ts";
import { createPolled } from "#src/infrastructure/polled.ts";

const everyMs = 5;
const rounds = 6;

/** Looks that end when they are told to. */
function handLooks() {
  const ends: ((error?: Error) => void)[] = [];
  const look = (): Promise<void> =>
    new Promise((resolve, reject) =>
      ends.push((error) => (error === undefined ? resolve() : reject(error))),
    );
  return { ends, look };
}
/** Until `isTrue`, however slow the machine is. */
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await sleep(1);
};

describe("what is looked at again and again", () => {
  it("looks at the start, and goes on", async () => {
    let looks = 0;
    const polled = createPolled({ everyMs, look: async () => void looks++ });
    await polled.start();
    expect(looks).to.be.at.least(1);
    await until(() => looks > rounds);
    await polled.stop();
    const after = looks;
    await sleep(rounds * everyMs);
    expect(looks).to.equal(after);
  });

  it("has no second look beside one that hangs, and at most one behind it", async () => {
    const { ends, look } = handLooks();
    const polled = createPolled({ everyMs, look });
    void polled.start();
    await sleep(rounds * everyMs);
    expect(ends).to.have.length(1);
    const behind = [polled.refresh(), polled.refresh(), polled.refresh()];
    await sleep(rounds * everyMs);
    expect(ends).to.have.length(1);
    ends[0]!();
    await until(() => ends.length === 2);
    ends[1]!();
    await Promise.all(behind);
    const stopped = polled.stop();
    for (const end of ends) end();
    await stopped;
  });

  it("tells of a look that fails, and goes on", async () => {
    const reasons: string[] = [];
    let looks = 0;
    const polled = createPolled({
      everyMs,
      look: async () => {
        if (++looks % 2 === 1) throw new Error(`look ${looks}`);
      },
      onError: (reason) => reasons.push(reason),
    });
    await polled.start();
    await until(() => looks > 3);
    await polled.stop();
    expect(reasons.slice(0, 2)).to.deep.equal(["look 1", "look 3"]);
  });

  it("stops before a start, and twice; a refresh after it looks at nothing", async () => {
    let looks = 0;
    const polled = createPolled({ everyMs, look: async () => void looks++ });
    await polled.stop();
    await polled.start();
    await Promise.all([polled.stop(), polled.stop()]);
    const before = looks;
    await polled.refresh();
    expect(looks).to.equal(before);
  });

  it("begins no look after the stop that was called for before it", async () => {
    const { ends, look } = handLooks();
    const polled = createPolled({ everyMs, look });
    void polled.start();
    const behind = polled.refresh();
    const stop = polled.stop();
    ends[0]!();
    await Promise.all([behind, stop]);
    expect(ends).to.have.length(1);
  });

  it("leaves a fault that nobody is told of to its caller", async () => {
    const fault = new Error("a bug");
    const polled = createPolled({ everyMs: 60_000, look: () => Promise.reject(fault) });
    expect(await polled.start().catch((error: unknown) => error)).to.equal(fault);
    await polled.stop();
  });

  it("waits at the stop for the look under way", async () => {
    const { ends, look } = handLooks();
    const polled = createPolled({ everyMs, look });
    void polled.start();
    let isStopped = false;
    const stop = polled.stop().then(() => (isStopped = true));
    await sleep(rounds);
    expect(isStopped).to.equal(false);
    ends[0]!();
    await stop;
  });
});

describe("parts of a process", () => {
  it("are stopped in reverse, all of them, also when one fails", async () => {
    const done: string[] = [];
    const part = (name: string) => ({
      start: () => void done.push(`+${name}`),
      stop: () => void done.push(`-${name}`),
    });
    const failing = { stop: () => Promise.reject(new Error("stuck")) };
    const parts = createParts(part("a"), failing, {}, part("b"));
    await parts.start();
    const fault = await parts.stop().catch((error: Error) => error.message);
    expect(done).to.deep.equal(["+a", "+b", "-b", "-a"]);
    expect(fault).to.equal("stuck");
  });
});
