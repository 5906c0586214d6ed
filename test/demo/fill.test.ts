import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { undoHalfFill } from "#demo/fill.ts";
import { useFolder } from "#test/harness/use.ts";

describe("filling a database that was interrupted", () => {
  const folder = useFolder();

  it("is told of that database alone, whoever asks for it", async () => {
    const ours = join(folder.path, "filling");
    writeFileSync(ours, "");
    const undo = (url: string) => undoHalfFill({ DATABASE_URL: url }, folder.path, url);
    await undo("postgres://me:secret@db.test/fuel");
    writeFileSync(join(folder.path, "filling-db.test%2Ffuel"), "");
    await undo("postgres://me:secret@db.test/other?sslmode=require");
    const error = await undo("postgres://you@db.test/fuel?sslmode=require").catch(
      (one: Error) => one.message,
    );
    expect(error).to.include("empty that database");
    expect(existsSync(ours)).to.equal(true);
  });
});
