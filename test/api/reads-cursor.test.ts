import { expect } from "chai";
import fc from "fast-check";
import { makeCursor, readCursor } from "#snapshots/model/forms.ts";
import { parseBox, widenBox } from "#api/stations/stations-query.ts";

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
        if (changed !== made) expect(readCursor(changed, "")).to.equal(null);
      }),
    );
    for (const changed of [`${made}=`, `${made}!`, ` ${made}`, `\0${made}`, `${made}AA`])
      expect(readCursor(changed, ""), changed).to.equal(null);
    // The last letter holds bits that the decoder drops.
    const last = Buffer.from([...made].at(-1) as string).readUInt8();
    for (const letter of [last - 1, last + 1])
      expect(readCursor(made.slice(0, -1) + String.fromCharCode(letter), "")).to.equal(null);
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

  it("is widened to the grid for a publishable key: never smaller, never a cell more than needed", () => {
    const box = { south: 55.0123, west: 82.999, north: 55.02, east: 83.0001 };
    const wide = { south: 55.01, west: 82.99, north: 55.02, east: 83.01 };
    expect(widenBox(box)).to.deep.equal(wide);
    expect(widenBox({ ...wide })).to.deep.equal(wide);
    expect(widenBox({ south: 0, west: 10.006, north: 1, east: 10.004 })).to.deep.equal({
      ...{ south: 0, west: -180, north: 1, east: 180 },
    });
    const degrees = fc.double({ min: -180, max: 180, noNaN: true });
    fc.assert(
      fc.property(degrees, degrees, (a, b) => {
        const given = { south: -1, west: Math.min(a, b), north: 1, east: Math.max(a, b) };
        const { west, east } = widenBox(given);
        expect(west).to.be.within(given.west - 0.0100001, given.west);
        expect(east).to.be.within(given.east, given.east + 0.0100001);
        expect(widenBox({ ...given, west, east })).to.include({ west, east });
      }),
    );
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
