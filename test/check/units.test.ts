import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { sources } from "#test/check/sources.ts";

const folders = ["src", "snapshots", "api", "workers", "cli", "web"];
// The client stands by itself, and so does the build; Redis runs its script without us.
const apart = /^(src\/domain\/units\.ts|src\/limits\/meter-script\.ts|web\/(build|dist)\/)/;

/** The files, tests and units themselves aside, in which this stands. */
async function filesWith(pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const file of (await Promise.all(folders.map(sources))).flat()) {
    if (!apart.test(file) && pattern.test(await readFile(file, "utf8"))) found.push(file);
  }
  return found;
}

describe("units of time and the layout of mark ids", () => {
  it("have their constants in src/domain/units.ts alone", async () => {
    expect(await filesWith(/\b(const|let) (second|minute|hour|day)(S|Ms|) = [\d(]/)).to.deep.equal(
      [],
    );
  });

  it("are written by name, not by number", async () => {
    const number = /(?<![\d_.])(86_?400_?000|86_400|3_?600_?000|60_?000)(?![\d_])|[*/] 3_?600\b/;
    expect(await filesWith(number)).to.deep.equal([]);
  });

  it("have the shift of a mark id's day in src/marks/marks.ts alone", async () => {
    expect(
      await filesWith(/\bperDay =|4_?294_?967_?29[56]|<< 32|2 \*\* (32|sequenceBits)/),
    ).to.deep.equal([
      "src/marks/marks.ts",
      // The length of what was deflated.
      "snapshots/model/gzip-stitch.ts",
    ]);
  });
});
