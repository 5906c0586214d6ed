import { expect } from "chai";
import fc from "fast-check";
import { makeCursor, readCursor } from "#snapshots/cursor.ts";
import { parseBox } from "#api/routes/stations-query.ts";

const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);

describe("cursor of /stations/all", () => {
  it("comes back as it was made, for the same filters only", () => {
    fc.assert(
      fc.property(id, fc.integer({ min: 0, max: 4e9 }), (after, asOfS) => {
        const made = makeCursor({ after, asOfMs: asOfS * 1000 }, "filters");
        expect(readCursor(made, "filters")).to.deep.equal({ after, asOfMs: asOfS * 1000 });
        expect(readCursor(made, "other")).to.equal(null);
      }),
    );
  });

  it("is refused when anything about it was changed", () => {
    const made = makeCursor({ after: "n1", asOfMs: 1_700_000_000_000 }, "");
    fc.assert(
      fc.property(fc.nat(made.length - 1), fc.constantFrom(..."AbZ9_-"), (at, letter) => {
        const changed = made.slice(0, at) + letter + made.slice(at + 1);
        const read = readCursor(changed, "");
        // The last letter holds bits that decode to nothing.
        if (read !== null) expect(read).to.deep.equal(readCursor(made, ""));
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => readCursor(text, "") === null));
  });
});

describe("bbox", () => {
  it("is four numbers, south-west first; west of east or across 180°", () => {
    expect(parseBox("1,2,3,4")).to.deep.equal({ south: 1, west: 2, north: 3, east: 4 });
    expect(parseBox(" -1.5 ,.5,0, 180")).to.deep.equal({
      south: -1.5,
      west: 0.5,
      north: 0,
      east: 180,
    });
    expect(parseBox("60,170,70,-170")).to.deep.equal({
      south: 60,
      west: 170,
      north: 70,
      east: -170,
    });
  });

  it("is refused in any other form", () => {
    for (const text of [
      "",
      ",,,",
      "1,2,3",
      "1,2,3,4,5",
      "1,2,x,4",
      "3,2,1,4",
      "-91,0,0,0",
      "0,0,0,181",
      "1e1,0,20,0",
      "NaN,0,1,1",
      "0x1,0,2,2",
      "1,2,3,4;",
    ])
      expect(parseBox(text), text).to.equal(null);
  });
});
