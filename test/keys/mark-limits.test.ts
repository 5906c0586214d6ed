import { expect } from "chai";
import { type KeyInfo, markLimitsOf } from "#src/keys/key-info.ts";

const until = Date.UTC(2027, 0, 15);
const usual = { newReportersDaily: 500 };
const launch = { until, newUsers: 20_000, limit: 75 };

const limits = (
  now: number,
  newUsersDaily: number | null,
  its: typeof launch | null,
  limited: KeyInfo["limited"] = null,
) => {
  const key = { massNoLimit: 20, limited, partner: { newUsersDaily, launch: its } } as KeyInfo;
  return markLimitsOf(key, now, usual);
};

describe("what a key may send of new users", () => {
  it("is the default, or what the operator set for its partner", () => {
    expect(limits(until, null, null)).to.deep.equal({ massNoLimit: 20, newUsersLimit: 500 });
    expect(limits(until, 7, null)).to.deep.equal({ massNoLimit: 20, newUsersLimit: 7 });
  });

  it("is more until the launch ends, never less", () => {
    const more = { massNoLimit: 20_000, newUsersLimit: 20_000 };
    expect(limits(until - 1, 7, launch)).to.deep.equal(more);
    expect(limits(until - 1, 90_000, launch)).to.include({ newUsersLimit: 90_000 });
    expect(limits(until, 7, launch)).to.deep.equal({ massNoLimit: 20, newUsersLimit: 7 });
  });

  it("is what the key is limited to until that ends, also in a launch", () => {
    const limited = { to: 2, until };
    expect(limits(until - 1, null, null, limited)).to.include({ massNoLimit: 2 });
    expect(limits(until - 1, null, launch, limited)).to.include({ massNoLimit: 2 });
    expect(limits(until, null, null, limited)).to.include({ massNoLimit: 20 });
  });
});
