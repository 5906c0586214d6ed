import { expect } from "chai";
import fc from "fast-check";
import { ageOf, isYoung } from "#src/domain/age.ts";
import {
  boundMs,
  type ClockSample,
  clocksOff,
  type FollowedTime,
  followTime,
  isTrusted,
  mentionMs,
  settleMs,
} from "#src/domain/followed-time.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";

const everyMs = 2000;
const epoch = Date.UTC(2026, 0, 31);

type Clocks = Pick<ClockSample, "postgres" | "redis" | "own">;
const right: Clocks = { postgres: epoch, redis: epoch, own: epoch };

/** What a process follows that sees these clocks one after the other, every two seconds. */
function follow(seen: readonly Clocks[], from: FollowedTime | null = null): FollowedTime {
  let time = from;
  for (const [n, clocks] of seen.entries())
    time = followTime(time, { at: 1e9 + n * everyMs, errorMs: 0, ...clocks });
  return time!;
}
const during = (ms: number, clocks: Clocks): Clocks[] =>
  Array.from({ length: Math.ceil(ms / everyMs) + 1 }, () => clocks);

const step = fc.integer({ min: -400 * dayMs, max: 400 * dayMs });
const wide = step.filter((ms) => Math.abs(ms) > boundMs);
const small = fc.integer({ min: -boundMs, max: boundMs });

describe("the time that a process follows", () => {
  it("is the database's, whatever the own clock does", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1 }), (steps) => {
        const time = follow([right, ...steps.map((ms) => ({ ...right, own: epoch + ms }))]);
        expect(time.offsetMs).to.equal(epoch);
        expect(isTrusted(time)).to.equal(Math.abs(steps.at(-1)!) <= boundMs);
        expect(clocksOff(time)).to.deep.equal(Math.abs(steps.at(-1)!) > mentionMs ? ["own"] : []);
      }),
    );
  });

  it("is the database's, and trusted, whatever Redis's clock does", () => {
    fc.assert(
      fc.property(step, (ms) => {
        const time = follow([right, { ...right, redis: epoch + ms }]);
        expect([time.offsetMs, isTrusted(time)]).to.deep.equal([epoch, true]);
        expect(clocksOff(time)).to.deep.equal(Math.abs(ms) > mentionMs ? ["redis"] : []);
      }),
    );
  });

  it("takes small steps of the database at once, in both directions", () => {
    fc.assert(
      fc.property(small, (ms) => {
        const time = follow([right, { ...right, postgres: epoch + ms }]);
        expect(time.offsetMs).to.be.within(epoch + ms - 2, epoch + ms + 2);
        expect(isTrusted(time)).to.equal(true);
      }),
    );
  });

  it("goes on as it was while the database's clock is another one, and is not trusted; nothing is left of it afterwards", () => {
    fc.assert(
      fc.property(wide, fc.integer({ min: 1, max: 200 }), fc.boolean(), (ms, looks, agrees) => {
        const off = { ...right, postgres: epoch + ms };
        const held = follow([right, ...Array.from({ length: looks }, () => off)]);
        expect([held.offsetMs, isTrusted(held)]).to.deep.equal([epoch, false]);
        expect(clocksOff(held)).to.deep.equal(["postgres"]);
        const after = follow([agrees ? right : { ...right, redis: null }], held);
        expect([after.offsetMs, after.held, isTrusted(after)]).to.deep.equal([epoch, null, true]);
      }),
    );
  });

  it("follows a step of the database that has lasted for a minute and that another clock confirms", () => {
    fc.assert(
      fc.property(wide, fc.constantFrom("redis" as const, "own" as const), (ms, witness) => {
        const stepped = { ...right, postgres: epoch + ms, [witness]: epoch + ms };
        const soon = follow([right, ...during(settleMs - 2 * everyMs, stepped)]);
        expect([soon.offsetMs, isTrusted(soon)]).to.deep.equal([epoch, false]);
        const later = follow([right, ...during(settleMs, stepped)]);
        expect([later.offsetMs, later.held]).to.deep.equal([epoch + ms, null]);
        // Without the own clock's word, that clock is the one that is wrong now.
        expect(isTrusted(later)).to.equal(witness === "own");
      }),
    );
  });

  it("does not count steps of a database that goes to and fro as one that lasts", () => {
    const looks = during(10 * settleMs, right).map((_, n) => ({
      ...right,
      postgres: epoch + (n % 5 === 0 ? 2 : 1) * hourMs,
      own: epoch + hourMs,
    }));
    expect(follow([right, ...looks]).offsetMs).to.equal(epoch);
  });

  it("begins with the time of the two clocks that agree when the database's is another one", () => {
    fc.assert(
      fc.property(wide, (ms) => {
        const off = { ...right, postgres: epoch + ms };
        const held = follow(during(10 * settleMs, off));
        expect([held.offsetMs, isTrusted(held)]).to.deep.equal([epoch, false]);
        expect(follow([right], held)).to.include({ offsetMs: epoch, of: "postgres", held: null });
      }),
    );
  });

  it("begins without Postgres with Redis's time, without both with its own, and takes the database's when it comes", () => {
    fc.assert(
      fc.property(step, step, (redisMs, ownMs) => {
        const alone = { postgres: null, redis: null, own: epoch + ownMs };
        expect(follow([alone])).to.include({ offsetMs: epoch + ownMs, of: "own" });
        const two = { ...alone, redis: epoch + redisMs };
        expect(follow([alone, two])).to.include({ offsetMs: epoch + redisMs, of: "redis" });
        const isOutvoted = Math.abs(redisMs - ownMs) <= boundMs && Math.abs(redisMs) > boundMs;
        const all = follow([alone, two, { ...two, postgres: epoch }]);
        expect(all.offsetMs).to.equal(isOutvoted ? epoch + redisMs : epoch);
      }),
    );
  });

  it("goes on while Postgres is away", () => {
    const away = { postgres: null, redis: epoch + dayMs, own: epoch };
    expect(follow([right, ...during(10 * settleMs, away)])).to.include({ offsetMs: epoch });
  });

  it("does not move for what the round trip leaves open", () => {
    const first = followTime(null, { at: 0, errorMs: 5, ...right });
    const next = { ...right, postgres: epoch + 4 };
    expect(followTime(first, { at: 1, errorMs: 5, ...next }).offsetMs).to.equal(epoch);
    expect(followTime(first, { at: 1, errorMs: 1, ...next }).offsetMs).to.equal(epoch + 4);
  });
});

describe("an age", () => {
  it("is never below zero but for what lies in the future, and that is not young", () => {
    fc.assert(
      fc.property(step, fc.nat(), (ms, maxMs) => {
        const ageMs = ageOf(epoch - ms, epoch);
        expect(ageMs).to.equal(ms < 0 && ms >= -1000 ? 0 : ms);
        expect(isYoung(ageMs, maxMs)).to.equal(ms >= -1000 && ms <= maxMs);
      }),
    );
  });
});
