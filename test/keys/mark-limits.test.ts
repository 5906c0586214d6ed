import { expect } from "chai";
import { type KeyInfo, newUsersLimitOf } from "#src/keys/key-store.ts";

const until = Date.UTC(2027, 0, 15);
const launch = { until, newUsers: 20_000, limit: 75 };

const limit = (now: number, newUsersDaily: number | null, its: typeof launch | null): number =>
  newUsersLimitOf({ partner: { newUsersDaily, launch: its } } as KeyInfo, now, {
    newReportersDaily: 500,
  });

describe("how many new users a partner may have", () => {
  it("is the default, or what the operator set for it", () => {
    expect(limit(until, null, null)).to.equal(500);
    expect(limit(until, 7, null)).to.equal(7);
  });

  it("is more until the launch ends, never less", () => {
    expect(limit(until - 1, 7, launch)).to.equal(20_000);
    expect(limit(until - 1, 90_000, launch)).to.equal(90_000);
    expect(limit(until, 7, launch)).to.equal(7);
  });
});
