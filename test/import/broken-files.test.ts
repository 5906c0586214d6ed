import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { brokenFiles } from "#bench/imports/broken-files.ts";
import { asFault, isFault } from "#src/import/read-text.ts";
import { readRecords } from "#src/import/records.ts";
import { useFolder } from "#test/harness/use.ts";

describe("broken files", () => {
  const folder = useFolder();
  let path: string;
  before(async () => {
    path = join(folder.path, "file");
  });

  for (const [what, spec, content, fault] of brokenFiles)
    it(`are refused with what to do: ${what} (${spec.format})`, async () => {
      await writeFile(path, content());
      const done = await asFault(path, async () => {
        let records = 0;
        for await (const some of readRecords(path, spec, () => undefined)) records += some.length;
        return { records };
      });
      expect(isFault(done) && done.fault).to.match(fault);
      // The file, what is wrong with it, that nothing was changed, and at least one sentence of advice.
      expect(isFault(done) && done.fault).to.match(
        /^\S+?(, line \d+)?: .+; nothing was changed\. .+[.?`]$/,
      );
    });
});
