import { expect } from "chai";
import { leaning } from "#src/marks/held-groups.ts";

describe("what marks of others speak for", () => {
  for (const [agree, disagree, leans] of [
    [0, 0, null],
    [2, 0, null],
    [0, 2, null],
    [3, 0, "approve"],
    [0, 3, "reject"],
    [69, 271, "reject"],
    [2, 1, "approve"],
    [1, 2, "reject"],
    [3, 2, null],
    [5, 5, null],
  ] as const)
    it(`is ${leans ?? "neither"}, where ${agree} agree and ${disagree} do not`, () => {
      expect(leaning(agree, disagree)).to.equal(leans);
    });
});
