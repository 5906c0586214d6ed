import { expect } from "chai";
import fc from "fast-check";
import { heardIn } from "#web/kit/heard.ts";

describe("what was put into a sentence", () => {
  it("is found again, whatever it was", () => {
    const value = fc.string({ unit: "grapheme-ascii", minLength: 1 });
    fc.assert(
      fc.property(value, value, (duty, s) => {
        fc.pre(!duty.includes(" is late (") && !s.includes(" is late ("));
        expect(heardIn("{duty} is late (by {s} s).", `${duty} is late (by ${s} s).`)).to.deep.equal(
          {
            duty,
            s,
          },
        );
      }),
    );
  });

  it("is nothing in a sentence without places, and null in another one", () => {
    expect(heardIn("on time", "on time")).to.deep.equal({});
    expect(heardIn("on time", "on time, mostly")).to.equal(null);
    expect(heardIn("a.c", "abc")).to.equal(null);
    expect(heardIn("{n} more", " more")).to.equal(null);
  });
});
