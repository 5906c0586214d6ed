import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { lockIds } from "#src/infrastructure/locks.ts";
import { sources } from "#test/check/sources.ts";

const numbers: readonly number[] = Object.values(lockIds);

describe("the ids of advisory locks", () => {
  it("are given out once each", () => {
    expect(numbers.filter((id, index) => numbers.indexOf(id) !== index)).to.deep.equal([]);
  });

  it("stand in src/infrastructure/locks.ts, and elsewhere in released migrations only", async () => {
    // A number in an advisory lock's call, or one that looks like an id of ours.
    const literal = /advisory_\w+\(\s*[\d_]+\s*[,)]|\b7_?166_?7\d\d\b/;
    const found: string[] = [];
    for (const folder of ["src", "snapshots", "api", "workers", "cli", "demo", "bench"]) {
      for (const file of await sources(folder)) {
        if (file === join("src", "infrastructure", "locks.ts")) continue;
        if (literal.test(await readFile(file, "utf8"))) found.push(file);
      }
    }
    expect(found).to.deep.equal([]);
  });

  it("name every number that a migration locks", async () => {
    const locked = new Set<number>();
    for (const file of await sources("migrations")) {
      const sql = await readFile(file, "utf8");
      for (const [, id] of sql.matchAll(/advisory_\w+\((\d+)/g)) locked.add(Number(id));
    }
    expect([...locked].sort()).to.deep.equal([
      lockIds.changeFeed,
      lockIds.markPartitions,
      lockIds.dropPartitions,
    ]);
  });
});
