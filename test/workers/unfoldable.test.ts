import { expect } from "chai";
import { createRetryBackoff } from "#workers/marks/role.ts";

const second = 1000;
const minute = 60 * second;

/** Stations that cannot be folded anew, on a clock that the test sets. */
function watch() {
  let now = 0;
  const logged: { station: string; attempt: number }[] = [];
  const log = { error: (line: { station: string; attempt: number }) => void logged.push(line) };
  const stations = createRetryBackoff(log as never, () => now, 2 * second);
  const fail = (stationId: string) =>
    stations.note([stationId], [{ stationId, error: new Error("broken") }]);
  return { stations, fail, logged, wait: (ms: number) => void (now += ms) };
}

describe("stations that cannot be folded anew", () => {
  it("rest twice as long after each try, 5 minutes at most", () => {
    const { stations, fail, wait } = watch();
    for (const restMs of [2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((s) => s * second)) {
      fail("n1");
      wait(restMs - 1);
      expect(stations.due()).to.deep.equal([]);
      wait(1);
      expect(stations.due()).to.deep.equal(["n1"]);
    }
  });

  it("are logged at once, and then once a minute at most each", () => {
    const { fail, logged, wait } = watch();
    fail("n1");
    fail("n2");
    for (let tries = 0; tries < 5; tries += 1) {
      wait(10 * second);
      fail("n1");
    }
    expect(logged.map((line) => line.station)).to.deep.equal(["n1", "n2"]);
    wait(minute);
    fail("n1");
    expect(logged.at(-1)).to.include({ station: "n1", attempt: 7 });
  });

  it("are forgotten when a run has helped them", () => {
    const { stations, fail, logged } = watch();
    fail("n1");
    stations.note(["n1"], []);
    expect(stations.failing()).to.deep.equal([]);
    fail("n1");
    expect(logged.at(-1)).to.include({ attempt: 1 });
  });
});
