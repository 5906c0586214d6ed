import { expect } from "chai";
import fc from "fast-check";
import { isOutdated, isStaleBeside, uncertainMs } from "#src/domain/age.ts";

const second = 1000;
const minute = 60 * second;
const age = fc.double({ min: 0, max: 1e9, noNaN: true });
const behind = fc.oneof(fc.constant(-Infinity), fc.double({ min: -1e9, max: 1e9, noNaN: true }));

describe("what a process may believe of keys", () => {
  it("is not too old while it reads Postgres itself, whatever it hears", () =>
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 40 * second, noNaN: true }),
        age,
        behind,
        (ageMs, h, b) => {
          expect(isOutdated({ ageMs, heardMs: h, behindMs: b })).to.equal(false);
        },
      ),
    ));

  it("is too old within a minute, once another process has read Postgres since, or none is heard", () =>
    fc.assert(
      // The others read Postgres until `readFor`, this process hears of it until `heardFor`.
      fc.property(age, age, age, (readFor, heardFor, more) => {
        const now = minute + more;
        const heard = Math.min(heardFor, now);
        const knowledge = { ageMs: now, heardMs: now - heard, behindMs: Math.min(readFor, heard) };
        const couldKnowMore = knowledge.behindMs > 20 * second || knowledge.heardMs > 40 * second;
        expect(isOutdated(knowledge)).to.equal(couldKnowMore);
      }),
    ));

  it("stays what it is for as long as nobody can read Postgres", () =>
    fc.assert(
      fc.property(age, fc.double({ min: 0, max: 40 * second, noNaN: true }), (ageMs, heardMs) => {
        for (const behindMs of [-Infinity, -1, 0, 20 * second])
          expect(isOutdated({ ageMs, heardMs, behindMs })).to.equal(false);
      }),
    ));

  it("is never more certain than the last word from Postgres and from the others", () =>
    fc.assert(
      fc.property(age, age, behind, (ageMs, heardMs, behindMs) => {
        expect(uncertainMs({ ageMs, heardMs, behindMs })).to.be.at.least(Math.min(ageMs, heardMs));
      }),
    ));
});

describe("what a process serves beside others", () => {
  const beside = (readAt: number, ...othersAt: (number | null)[]) =>
    isStaleBeside(readAt, othersAt, { pollMs: 1000 });

  it("is stale when another one has read Postgres much later, and not when none has", () => {
    expect(beside(1e6)).to.equal(false);
    expect(beside(1e6, null, 1e6 - 1, 1e6 + 20 * second)).to.equal(false);
    expect(beside(1e6, null, 1e6 + 20 * second + 1)).to.equal(true);
    expect(isStaleBeside(0, [4 * minute], { pollMs: minute })).to.equal(false);
  });
});
