import { expect } from "chai";
import fc from "fast-check";
import { createAttempts, delayMs } from "#src/operators/attempts.ts";

describe("attempts to sign in", () => {
  const rule = fc.record({
    free: fc.integer({ min: 0, max: 30 }),
    longestMs: fc.integer({ min: 1000, max: 900_000 }),
  });

  it("wait never less after one more failure, and never longer than the longest delay", () => {
    fc.assert(
      fc.property(rule, fc.integer({ min: 0, max: 3000 }), (rule, failures) => {
        const [one, next] = [delayMs(failures, rule), delayMs(failures + 1, rule)];
        expect(next).to.be.within(one, rule.longestMs);
        expect(delayMs(rule.free - 1, rule)).to.equal(0);
      }),
    );
  });

  it("are bounded, however they are spread: as many as there are delays in the time", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 });
    fc.assert(
      fc.property(rule, steps, (rule, steps) => {
        const attempts = createAttempts(rule);
        let [now, granted] = [0, 0];
        for (const step of steps) {
          now += step;
          if (attempts.waitMs("key", now) > 0) continue;
          attempts.count("key", now);
          granted += 1;
        }
        let sum = 0;
        for (let n = 1; n < granted; n += 1) sum += delayMs(n, rule);
        expect(sum).to.be.at.most(now);
      }),
    );
  });

  it("start anew after a success, and after an hour without any", () => {
    const attempts = createAttempts({ free: 1, longestMs: 60_000 });
    let now = 0;
    for (const start of [() => attempts.forget("a"), () => (now += 3600_000)]) {
      for (let i = 0; i < 9; i += 1) attempts.count("a", now);
      expect(attempts.waitMs("a", now)).to.equal(60_000);
      expect(attempts.waitMs("b", now)).to.equal(0);
      start();
      expect(attempts.waitMs("a", now)).to.equal(0);
      attempts.count("a", now);
      expect(attempts.waitMs("a", now)).to.equal(1000);
      attempts.forget("a");
    }
  });
});
