import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { sources } from "#test/check/sources.ts";

describe("the layout", () => {
  it("runs every file of tests: their names end in .test.ts", async () => {
    const missed: string[] = [];
    for (const file of await sources("test")) {
      // Run by `npm run screenshots`: they draw pictures and test nothing.
      if (file.startsWith(join("test", "browser", "shots"))) continue;
      const code = await readFile(file, "utf8");
      if (/^(describe|it)\(/m.test(code) && !file.endsWith(".test.ts")) missed.push(file);
    }
    expect(missed).to.deep.equal([]);
  });

  it("reads no clock and imports nothing at run time in src/domain", async () => {
    // What the linter has no rule for.
    const impure = /\bnew Date\(\s*\)|(?<!new )\bDate\(|\bimport\(/;
    const found: string[] = [];
    for (const file of await sources("src/domain")) {
      if (impure.test(await readFile(file, "utf8"))) found.push(file);
    }
    expect(found).to.deep.equal([]);
  });

  it("has a README of three to ten lines in every folder of code", async () => {
    const roots = ["src", "snapshots", "api", "workers", "cli"];
    const files = (await Promise.all(roots.map(sources))).flat();
    const wrong: string[] = [];
    for (const folder of new Set(files.map((file) => dirname(file)))) {
      const text = await readFile(join(folder, "README.md"), "utf8").catch(() => "");
      const lines = text.trimEnd().split("\n").length;
      if (lines < 3 || lines > 10) wrong.push(`${folder}: ${lines}`);
    }
    expect(wrong).to.deep.equal([]);
  });

  it("keeps the root folders short", async () => {
    for (const [folder, most] of Object.entries({ src: 12, api: 14, snapshots: 8 }))
      expect(await readdir(folder), folder).to.have.length.at.most(most);
  });
});
